import { getGivenValue } from './prepare.ts'
import { type ParsedSpec, type SpecRules, type Spec, buildSpecSchema } from './schema.ts'

/** A key that is validated and that nothing reads yet: a value that asks for something is refused. */
interface PlannedKey {
  path: readonly [section: string, ...below: string[]]
  /** What is not built, with its verb: `… is`. */
  missing: string
  /** What to do now. */
  instead: string
  /** Values that ask for nothing, besides the default. */
  harmless?: readonly unknown[]
  /** ce specs carry it, or these values of it, for machinery of ce's own: there it is said, not refused. */
  inCe?: { values?: readonly unknown[]; says: string }
  /** Where it is read after all. */
  readIn?: readonly CampaignLocation[]
  /** Whether anything would have to read it in this spec. */
  when?(spec: Pick<Spec, 'measurement'>): boolean
}

const REMOVE_IT = 'remove it'
const OWN_AGENT =
  'winnow starts no agent by itself; propose: [{ use: command, command }] does, with the flags you give it'

const PLANNED_KEYS: readonly PlannedKey[] = [
  {
    path: ['merge', 'via'],
    missing: 'merging through the API is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'use push',
  },
  {
    path: ['merge', 'max_pull_requests_per_hour'],
    missing: 'a rate of opening pull requests is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it and set merge.max_open_experiments',
  },
  { path: ['search', 'stall_rounds'], missing: 'noticing a stall is', instead: REMOVE_IT },
  { path: ['search', 'ideate_every'], missing: 'asking for fresh ideas by rounds is', instead: REMOVE_IT },
  { path: ['search', 'ideate_stall'], missing: 'asking for fresh ideas in a stall is', instead: REMOVE_IT },
  {
    path: ['search', 'controller'],
    missing: 'turning knobs is',
    instead: 'remove it and set the knobs in the spec',
  },
  {
    path: ['search', 'skills'],
    missing: 'showing skill files is',
    instead: 'put what proposers should know under advice',
  },
  {
    path: ['execution', 'backend'],
    missing: 'this backend is',
    instead: 'use worktree or auto',
    harmless: ['worktree'],
    inCe: { values: ['codex'], says: `winnow measures in work trees; ${OWN_AGENT}` },
  },
  {
    path: ['execution', 'runs_on'],
    missing: 'choosing a runner is, but for measuring jobs on GitHub,',
    readIn: ['github'],
    instead: 'remove it: this machine measures',
  },
  {
    path: ['execution', 'services'],
    missing: 'starting service containers is, but for measuring jobs on GitHub,',
    readIn: ['github'],
    instead: 'remove it and start them before winnow run',
  },
  {
    path: ['execution', 'codex_security'],
    missing: 'running codex is',
    instead: 'remove it and give the flags in propose: [{ use: command, command }]',
    inCe: { says: OWN_AGENT },
  },
  {
    path: ['dependencies', 'approvers'],
    missing: 'checking who approves is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it: every person who may write the ledger may approve, and winnow log says who did',
  },
  {
    path: ['report', 'comment'],
    missing: 'commenting on pull requests is, but on GitHub,',
    readIn: ['github', 'single-job'],
    instead: 'remove it: here nothing is commented',
  },
  {
    path: ['report', 'dashboard'],
    missing: 'a dashboard that could be left out is',
    instead: 'remove it: none is written',
  },
  {
    path: ['report', 'pages_branch'],
    missing: 'publishing is',
    instead: 'remove it and read winnow status',
  },
  {
    path: ['report', 'webhook'],
    missing: 'calling a webhook is',
    instead: 'remove it and read winnow status',
  },
  {
    path: ['stopping', 'max_total_cost_usd'],
    missing: 'one cap on all the money of a campaign is',
    instead:
      'remove it: metric.judge.max_total_cost_usd caps what judging spends, and what proposers spend is capped where their models are paid',
    inCe: {
      says: 'metric.judge.max_total_cost_usd caps what judging spends; what proposers spend is not counted',
    },
  },
]

/** For the reference of the spec: keys of which only the default is taken, there. */
export function listPlannedKeyPaths(where: CampaignLocation): string[] {
  return PLANNED_KEYS.filter(({ readIn = [] }) => !readIn.includes(where)).map(({ path }) => path.join('.'))
}

let specDefaults: ParsedSpec | null = null

/** Read off the schema, which alone says what a default is. */
function getDefaultValue(path: PlannedKey['path']): unknown {
  specDefaults ??= buildSpecSchema('winnow').parse({
    winnow: 1,
    measurement: { command: 'x' },
    scope: { mutable: ['x'] },
  })
  return getGivenValue(specDefaults, path)
}

function isRequested(key: PlannedKey, spec: unknown): boolean {
  const value = JSON.stringify(getGivenValue(spec, key.path))
  return ![getDefaultValue(key.path), ...(key.harmless ?? [])].some(each => JSON.stringify(each) === value)
}

type MeasurementSpec = Pick<Spec, 'measurement'>

function listRequestedKeys(spec: MeasurementSpec): PlannedKey[] {
  return PLANNED_KEYS.filter(key => isRequested(key, spec) && key.when?.(spec) !== false)
}

/** Whether a ce spec only brings the key along. */
function isCeLeftover({ inCe, path }: PlannedKey, spec: unknown, rules: SpecRules): boolean {
  if (rules !== 'ce' || inCe === undefined) return false
  return inCe.values === undefined || inCe.values.includes(getGivenValue(spec, path))
}

/**
 * Where a campaign lives: with everything on one machine; with its pull requests on GitHub and all work in one job
 * there; or with its orders in measuring jobs of their own.
 */
export type CampaignLocation = 'local' | 'single-job' | 'github'

/** One sentence for each such key, to be refused. */
export function refusePlannedKeys(
  spec: MeasurementSpec & { rules: SpecRules },
  where: CampaignLocation,
): string[] {
  return listRequestedKeys(spec)
    .filter(({ readIn = [] }) => !readIn.includes(where))
    .filter(key => !isCeLeftover(key, spec, spec.rules))
    .map(({ path, missing, instead }) => {
      const value = formatKeyValue(getGivenValue(spec, path))
      return `${path.join('.')}${value}: ${missing} not built yet; ${instead}.`
    })
}

/** One note for each such key that is read on GitHub, for who looks at the spec elsewhere. */
export function noteGithubOnlyKeys(spec: MeasurementSpec): string[] {
  return listRequestedKeys(spec)
    .filter(({ readIn = [] }) => readIn.includes('github'))
    .map(({ path }) => `${path.join('.')} is for campaigns on GitHub: on this machine winnow run refuses it`)
}

/** One note for each such key that a ce spec brings along. */
export function noteCeLeftovers(spec: MeasurementSpec, rules: SpecRules): string[] {
  return listRequestedKeys(spec)
    .filter(key => isCeLeftover(key, spec, rules))
    .map(({ path, inCe }) => `${path.join('.')} changes nothing: ${inCe?.says ?? ''}`)
}

function formatKeyValue(value: unknown): string {
  const plain = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return plain ? ` ${value}` : ''
}
