import { isMap, isPair, isScalar, LineCounter, parseDocument, type YAMLMap } from 'yaml'
import { PINNED } from '../../src/init/workflows/steps.ts'
import { isJson } from '../github/contract/describe.ts'
import type { Step } from './parsed.ts'

/**
 * zizmor, which audits workflows, is no npm package. These are its audits, by its names and in our own words, over the
 * parsed files; documentation of 22 August 2026. All personas: what it shows only to pedants and auditors is found too.
 */

type Path = readonly (string | number)[]

export interface AuditedFile {
  path: string
  text: string
}

/** A place in a file, and the audit that names it. */
export interface AuditFinding {
  audit: string
  at: Path
}

interface Job {
  at: Path
  id: string
  job: Record<string, unknown>
}

interface PlacedStep {
  at: Path
  step: Step
  /** Null in a composite action. */
  job: Job | null
}

interface Parsed {
  file: AuditedFile
  kind: 'workflow' | 'action' | 'dependabot'
  root: Record<string, unknown>
  jobs: Job[]
  steps: PlacedStep[]
}

/** What a check needs: all of it, and what it names. */
type Check = (parsed: Parsed) => Path[]
/** Why no file here can have such a finding, or what stands in for asking GitHub. */
type Reason = string

const record = (value: unknown): Record<string, unknown> => (isJson(value) ? value : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Names the steps that are as they must not be. */
function findSteps(isWrong: (step: Step, placed: PlacedStep) => boolean, key?: string): Check {
  return ({ steps }) =>
    steps
      .filter(placed => isWrong(placed.step, placed))
      .map(({ at }) => (key === undefined ? at : [...at, key]))
}

function findJobs(isWrong: (job: Record<string, unknown>, parsed: Parsed) => boolean, key?: string): Check {
  return parsed =>
    parsed.jobs
      .filter(({ job }) => isWrong(job, parsed))
      .map(({ at }) => (key === undefined ? at : [...at, key]))
}

/** Every condition: of jobs and of steps. */
function findConditions(isWrong: (condition: string) => boolean): Check {
  return ({ jobs, steps }) =>
    [
      ...jobs.map(({ at, job }) => ({ at, condition: text(job['if']) })),
      ...steps.map(({ at, step }) => ({ at, condition: text(step['if']) })),
    ].flatMap(({ at, condition }) => (isWrong(condition) ? [[...at, 'if']] : []))
}

/** Every string of a file with an expression in it. */
function findExpressions(isWrong: (expression: string) => boolean): Check {
  return ({ root }) => {
    const found: Path[] = []
    walk(root, [], (value, at) => {
      const expressions = [...value.matchAll(/\$\{\{([^]*?)\}\}/g)].map(([, expression = '']) => expression)
      if (expressions.some(isWrong)) found.push(at)
    })
    return found
  }
}

function walk(value: unknown, at: Path, visit: (text: string, at: Path) => void): void {
  if (typeof value === 'string') visit(value, at)
  else if (Array.isArray(value))
    for (const [index, each] of value.entries()) walk(each, [...at, index], visit)
  else if (isJson(value)) for (const [key, each] of Object.entries(value)) walk(each, [...at, key], visit)
}

const uses = ({ uses: used = '' }: Step) => used
const usesAny = (step: Step, actions: readonly string[]) =>
  actions.some(action => uses(step).toLowerCase().startsWith(`${action.toLowerCase()}@`))
const isLocal = (step: Step) => /^(?:\.\/|\$\/)/.test(uses(step))
const isRemote = (step: Step) => uses(step) !== '' && !isLocal(step)
/** Commands of a script, each as its words. */
const splitCommands = ({ run = '' }: Step) =>
  run.split(/\n|;|&&|\|\|?/).map(command => command.trim().split(/\s+/))

const INSTALLS: Readonly<Record<string, RegExp>> = {
  gem: /^(?:install|i)$/,
  bundle: /^add$/,
  npm: /^(?:install|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall|add)$/,
  yarn: /^add$/,
  pnpm: /^add$/,
}

function isAdHocInstall([command = '', ...words]: readonly string[]): boolean {
  const [verb, ...named] = words.filter(word => !word.startsWith('-'))
  return INSTALLS[command]?.test(verb ?? '') === true && named.length > 0
}

const CACHING: readonly (readonly [action: string, isOff: (given: Record<string, unknown>) => boolean])[] = [
  ['actions/cache', () => false],
  ['actions/cache/restore', () => false],
  ['actions/cache/save', () => false],
  ['actions/setup-node', given => given['package-manager-cache'] === false && given['cache'] === undefined],
  ['actions/setup-go', given => given['cache'] === false],
  ['actions/setup-python', given => given['cache'] === undefined],
  ['actions/setup-java', given => given['cache'] === undefined],
]

/** Actions that files here may use: those with a pin, of workflows written by hand, and winnow by its name in tests. */
const ALLOWED = new Set([
  ...Object.keys(PINNED),
  'actions/attest-build-provenance',
  'github/codeql-action/analyze',
  'github/codeql-action/init',
  'somebody/winnow',
])

const SUPERFLUOUS = [
  'ncipollo/release-action',
  'softprops/action-gh-release',
  'elgohr/Github-Release-Action',
  'peter-evans/create-pull-request',
  'peter-evans/create-or-update-comment',
  'dacbd/create-issue-action',
  'actions-ecosystem/action-add-labels',
  'actions-ecosystem/action-remove-labels',
  'svenstaro/upload-release-action',
  'addnab/docker-run-action',
  'sergeysova/jq-action',
  'dtolnay/rust-toolchain',
  'stefanzweifel/git-auto-commit-action',
  'EndBug/add-and-commit',
] as const

const SHELLS = new Set(['bash', 'sh', 'pwsh', 'powershell', 'python'])
const PINS_STAND_IN =
  'asks GitHub, which tests may not do: forbidden-uses admits pins of one list alone, each a release, and Dependabot moves them'

export const AUDITS: Readonly<Record<string, Check | Reason>> = {
  'adhoc-packages': findSteps(step => splitCommands(step).some(isAdHocInstall), 'run'),

  'anonymous-definition': parsed => [
    ...(parsed.kind !== 'dependabot' && text(parsed.root['name']) === '' ? [[]] : []),
    ...findJobs(job => text(job['name']) === '')(parsed),
  ],

  'archived-uses': PINS_STAND_IN,

  artipacked: findSteps(
    step => usesAny(step, ['actions/checkout']) && step.with?.['persist-credentials'] !== false,
  ),

  'bot-conditions': findConditions(condition =>
    /\bgithub\.(?:actor|triggering_actor|event\.[\w.]*(?:sender|user)\.(?:login|id))\b/.test(condition),
  ),

  'cache-poisoning': findSteps(step =>
    CACHING.some(([action, isOff]) => usesAny(step, [action]) && !isOff(step.with ?? {})),
  ),

  'concurrency-limits': parsed => {
    const whole = parsed.root['concurrency']
    if (parsed.kind !== 'workflow') return []
    if (whole !== undefined) return typeof whole === 'string' ? [['concurrency']] : []
    return parsed.jobs.some(({ job }) => !isJson(job['concurrency'])) ? [['on']] : []
  },

  'dangerous-triggers': ({ root }) =>
    ['pull_request_target', 'workflow_run'].some(event => event in record(root['on'])) ? [['on']] : [],

  'dependabot-cooldown': ({ kind, root }) =>
    kind !== 'dependabot'
      ? []
      : list(root['updates']).flatMap((update, at) =>
          Number(record(record(update)['cooldown'])['default-days']) >= 7 ? [] : [['updates', at]],
        ),

  'dependabot-execution': ({ kind, root }) =>
    kind !== 'dependabot'
      ? []
      : list(root['updates']).flatMap((update, at) =>
          record(update)['insecure-external-code-execution'] === 'allow' ? [['updates', at]] : [],
        ),

  'excessive-permissions': parsed => {
    if (parsed.kind !== 'workflow') return []
    const isBroad = (given: unknown) => typeof given === 'string'
    const { permissions } = parsed.root
    const above = Object.values(record(permissions)).length > 0 || !isJson(permissions)
    return [
      ...(above ? [['permissions']] : []),
      ...findJobs(job => isBroad(job['permissions']) || job['permissions'] === undefined)(parsed),
    ]
  },

  'forbidden-uses': findSteps(step => isRemote(step) && !ALLOWED.has(uses(step).replace(/@.*/, '')), 'uses'),

  'github-app': findSteps(step => {
    const given = step.with ?? {}
    const isNarrow = Object.keys(given).some(key => key.startsWith('permission-'))
    const isOfAll = given['owner'] !== undefined && given['repositories'] === undefined
    return (
      usesAny(step, ['actions/create-github-app-token']) &&
      (given['skip-token-revoke'] !== undefined || isOfAll || !isNarrow)
    )
  }),

  'github-env': findSteps(({ run = '' }) => /\bGITHUB_(?:ENV|PATH)\b/.test(run), 'run'),

  'hardcoded-container-credentials': findJobs(job => {
    const containers = [job['container'], ...Object.values(record(job['services']))]
    return containers.some(each => {
      const password = record(record(each)['credentials'])['password']
      return password !== undefined && !text(password).startsWith('${{')
    })
  }),

  'impostor-commit': PINS_STAND_IN,

  'insecure-commands': ({ file }) => (/ACTIONS_ALLOW_UNSECURE_COMMANDS/.test(file.text) ? [[]] : []),

  'insecure-url-scheme': 'is about configuration of pre-commit, which this repository does not use',

  'known-vulnerable-actions': PINS_STAND_IN,

  misfeature: findSteps(
    step =>
      (usesAny(step, ['actions/setup-python']) && step.with?.['pip-install'] !== undefined) ||
      (step['shell'] !== undefined && !SHELLS.has(text(step['shell']).replace(/ .*/, ''))),
  ),

  obfuscation: parsed => [
    ...findSteps(step => isRemote(step) && /\/\/|\/\.{1,2}(?:\/|@)|\/@/.test(uses(step)), 'uses')(parsed),
    ...findExpressions(expression => !/[a-z]/i.test(expression.replaceAll(/'[^']*'/g, '')))(parsed),
  ],

  'overprovisioned-secrets': findExpressions(expression =>
    /toJSON\(\s*secrets\s*\)|\bsecrets\s*\[/i.test(expression),
  ),

  'ref-confusion': 'needs a symbolic reference; unpinned-uses admits commits alone',

  'ref-version-mismatch': parsed => {
    const said = new Set(
      Object.entries(PINNED).map(([action, [commit, version]]) => `${action}@${commit} # ${version}`),
    )
    const lines = parsed.file.text.split('\n')
    return parsed.steps.flatMap(({ at, step }) => {
      if (!Object.hasOwn(PINNED, uses(step).replace(/@.*/, ''))) return []
      return lines.some(line => line.includes(uses(step)) && !said.has(line.replace(/.*uses: /, '')))
        ? [[...at, 'uses']]
        : []
    })
  },

  'secrets-inherit': findJobs(job => job['secrets'] === 'inherit'),

  'secrets-outside-env': findJobs(
    job => /\bsecrets\.(?!GITHUB_TOKEN\b)/.test(JSON.stringify(job)) && job['environment'] === undefined,
  ),

  'self-hosted-runner': findJobs(job => {
    const on = job['runs-on']
    if (isJson(on)) return true
    const [first] = [on].flat().map(String)
    if (/^\$\{\{.*\}\}$/.test(first ?? ''))
      return JSON.stringify(job['strategy'] ?? {}).includes('self-hosted')
    return first === 'self-hosted' || first?.includes('${{') === true
  }, 'runs-on'),

  'self-repository': findSteps(step => uses(step).startsWith('./'), 'uses'),

  'stale-action-refs': PINS_STAND_IN,

  'superfluous-actions': findSteps(step => usesAny(step, SUPERFLUOUS), 'uses'),

  'template-injection': findSteps(
    step => (step.run ?? '').includes('${{') || text(step.with?.['script']).includes('${{'),
  ),

  'typosquat-uses': 'compares with names of popular actions; forbidden-uses admits a list of our own',

  'undocumented-permissions': parsed => {
    const lines = parsed.file.text.split('\n')
    return parsed.jobs.flatMap(({ at, job }) =>
      Object.entries(record(job['permissions'])).flatMap(([name, level]) => {
        if (name === 'contents' && level === 'read') return []
        const isSaid = lines
          .filter(line => line.includes(`${name}: ${String(level)}`))
          .every(line => / # \w/.test(line))
        return isSaid ? [] : [[...at, 'permissions', name]]
      }),
    )
  },

  'unpinned-images': parsed => {
    const isPinned = (image: unknown) => /@sha256:[0-9a-f]{64}$/.test(text(image))
    const imageOf = (container: unknown) => (isJson(container) ? container['image'] : container)
    return [
      ...findJobs(
        job => job['container'] !== undefined && !isPinned(imageOf(job['container'])),
        'container',
      )(parsed),
      ...findJobs(
        job => Object.values(record(job['services'])).some(service => !isPinned(imageOf(service))),
        'services',
      )(parsed),
      ...findSteps(step => uses(step).startsWith('docker://') && !isPinned(uses(step)), 'uses')(parsed),
    ]
  },

  'unpinned-tools': findSteps(
    step =>
      usesAny(step, ['aquasecurity/setup-trivy', '1password/load-secrets-action']) &&
      !/^v?\d/.test(String(step.with?.['version'] ?? '')),
  ),

  'unpinned-uses': parsed => [
    ...findSteps(step => isRemote(step) && !/@[0-9a-f]{40}$/.test(uses(step)), 'uses')(parsed),
    ...findJobs(
      job => job['uses'] !== undefined && !/@[0-9a-f]{40}$/.test(text(job['uses'])),
      'uses',
    )(parsed),
  ],

  'unredacted-secrets': findExpressions(expression => /fromJSON\(\s*secrets\./i.test(expression)),

  'unsound-condition': findConditions(
    condition => condition.includes('${{') && !/^\$\{\{[^]*\}\}$/.test(condition),
  ),

  'unsound-contains': findConditions(condition => /contains\(\s*'[^']*'\s*,\s*[a-z]/i.test(condition)),

  'unsound-ternary': parsed => [
    ...findExpressions(isUnsoundTernary)(parsed),
    ...findConditions(isUnsoundTernary)(parsed),
  ],

  'use-trusted-publishing': findSteps((step, { job }) => {
    const publishes = splitCommands(step).some(([command = '', verb = '']) =>
      /^(?:npm publish|pnpm publish|yarn publish|gem push|cargo publish|twine upload)$/.test(
        `${command} ${verb}`,
      ),
    )
    const byAction = usesAny(step, ['pypa/gh-action-pypi-publish']) && step.with?.['password'] !== undefined
    const isTrusted = record(job?.job['permissions'])['id-token'] === 'write'
    const hasToken = /secrets\.|NODE_AUTH_TOKEN/.test(JSON.stringify(step.env ?? {}))
    return byAction || (publishes && (!isTrusted || hasToken))
  }),
}

function isUnsoundTernary(expression: string): boolean {
  return /&&\s*(?:''|0|false|null)\s*\|\|/.test(expression)
}

export function auditFile(file: AuditedFile): AuditFinding[] {
  const parsed = parseFile(file)
  return Object.entries(AUDITS).flatMap(([audit, check]) =>
    typeof check === 'string' ? [] : check(parsed).map(at => ({ audit, at })),
  )
}

function parseFile(file: AuditedFile): Parsed {
  const root = record(parseDocument(file.text).toJS())
  const kind = 'updates' in root ? 'dependabot' : 'runs' in root ? 'action' : 'workflow'
  const jobs = Object.entries(record(root['jobs'])).map(
    ([id, job]): Job => ({ id, at: ['jobs', id], job: record(job) }),
  )
  const placed = (steps: unknown, at: Path, job: Job | null) =>
    list(steps).map((step, index): PlacedStep => ({ at: [...at, index], step: record(step), job }))
  const steps = [
    ...jobs.flatMap(each => placed(each.job['steps'], [...each.at, 'steps'], each)),
    ...placed(record(root['runs'])['steps'], ['runs', 'steps'], null),
  ]
  return { file, kind, root, jobs, steps }
}

export interface Ignore {
  audits: string[]
  reason: string
  line: number
}

/** Lists the comments by which zizmor is told to leave something out. */
export function listIgnores({ text: source }: AuditedFile): Ignore[] {
  return source.split('\n').flatMap((line, at) => {
    const [, audits = '', reason = ''] = /# zizmor: ignore\[([\w,-]+)\](.*)$/.exec(line) ?? []
    return audits === '' ? [] : [{ audits: audits.split(','), reason: reason.trim(), line: at + 1 }]
  })
}

/** Whether a comment of that kind stands within what a finding names. */
export function isIgnored(file: AuditedFile, { audit, at }: AuditFinding): boolean {
  const [first, last] = findLines(file, at)
  return listIgnores(file).some(({ audits, line }) => audits.includes(audit) && first <= line && line <= last)
}

/** The first and last line of what is there, its key included. */
function findLines({ text: source }: AuditedFile, at: Path): [number, number] {
  const counter = new LineCounter()
  const document = parseDocument(source, { lineCounter: counter })
  const lineAt = (offset: number) => counter.linePos(offset).line
  const node: unknown = document.getIn(at, true)
  const range = isRanged(node) ? node.range : [0, source.length, source.length]
  const key = findKey(document.getIn(at.slice(0, -1), true), at.at(-1))
  const start = key ?? range[0] ?? 0
  return [lineAt(start), lineAt(Math.max(start, (range[1] ?? start) - 1))]
}

function isRanged(node: unknown): node is { range: readonly number[] } {
  return typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)
}

function findKey(holder: unknown, key: string | number | undefined): number | null {
  if (!isMap(holder)) return null
  const pairs: YAMLMap['items'] = holder.items
  const pair = pairs.find(each => isPair(each) && isScalar(each.key) && each.key.value === key)
  return isRanged(pair?.key) ? (pair.key.range[0] ?? null) : null
}
