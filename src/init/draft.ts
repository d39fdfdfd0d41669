import { stringify } from 'yaml'
import { toShortRef } from '../model/ids.ts'
import { compilePathspec } from '../spec/scope.ts'
import { findTodoLine } from '../spec/spec-facts.ts'
import { buildSkeleton, type DetectedProject } from './detect.ts'
import { UserError } from '../errors.ts'
import { convertTarget, getLoggedMetric, getAimName, type Goal, isNotSpeed, isRate } from './goal.ts'
import {
  buildItemsHarness,
  buildSizeHarness,
  type NewFile,
  removeTodoLine,
  SKELETON_METRIC,
  SKELETON_OUTPUT,
} from './harness.ts'
import {
  ANY_OUTPUT,
  type DraftedGate,
  FIRST_RUN,
  type JudgedSubject,
  renderRubric,
  renderTiers,
} from './judged.ts'
import type { Findings, FoundBenchmark, PrintedMetric, ProjectLocation } from './project.ts'
import { buildTextHarness, chooseText, TEXT_RUBRIC_HEAD, TEXT_SUBJECT } from './text.ts'

interface DraftRequest {
  project: ProjectLocation
  detected: DetectedProject
  name: string
  prefix: string
  goal: Goal | null
}

export interface SpecDraft {
  files: NewFile[]
  specPath: string
  /** The file of the harness that a person completes. Null: the project has a benchmark. */
  edit: string | null
  /** Describes what the skeleton measures until then. */
  calls: string | null
  /** The generated benchmark is a placeholder: check and run refuse it until it is replaced. */
  isPlaceholder: boolean
  /** `target` is the target of the goal in the unit of the metric. Null: no target, or an unknown unit. */
  primary: { metric: string; target: number | null; isText?: boolean }
  /**
   * A metric that a benchmark prints and that init takes for a speed, because its name does not say
   * otherwise. Null: none.
   */
  guessed: string | null
  /** All commands of the spec, for checking whether this machine has their programs. */
  commands: string[]
  notes: string[]
}

interface DraftHarness {
  command: string
  setup: string[]
  output: FoundBenchmark['output']
  metric: PrintedMetric | null
  files: NewFile[]
  edit: string | null
  calls: string | null
  gates: (Omit<DraftedGate, 'description'> & Partial<DraftedGate>)[]
  diagnostics: string[]
  judged: JudgedDraft | null
}

/** What a judged metric is drafted from. `sample` is null if the items have buckets of their own. */
interface JudgedDraft extends Pick<JudgedSubject, 'levels' | 'alsoReport' | 'proxy'> {
  head: string
  sample: JudgedSubject['buckets'] | null
}

export function draftSpec(request: DraftRequest): SpecDraft {
  const { project, name, goal, prefix } = request
  const findings = narrowToText(request)
  const isText = findings.language === 'text'
  const harness = draftHarness(request, findings)
  const { gates, notes } = draftGates(findings, harness)
  const toRepositoryPath = (path: string) =>
    project.directory === '' ? path : `${project.directory}/${path}`
  const specPath = `.winnow/${name}.yaml`
  const immutable = protectHarness(findings, harness.files).map(toRepositoryPath)
  const setup = harness.setup.join(' && ')
  const values: SpecValues = {
    winnow: 1,
    description: goal?.words,
    metric: draftMetric(goal, harness),
    measurement: {
      working_directory: project.directory === '' ? undefined : project.directory,
      setup: setup === '' ? undefined : setup,
      command: harness.command,
      output: harness.output === 'json' ? undefined : harness.output,
    },
    gates: gates.length === 0 ? undefined : gates,
    scope: {
      mutable: findings.mutable.map(toRepositoryPath),
      immutable: immutable.length === 0 ? undefined : immutable,
    },
    stopping:
      harness.judged === null
        ? undefined
        : { max_iterations: FIRST_RUN.iterations, max_hours: FIRST_RUN.hours },
    branches: prefix === 'optimize' ? undefined : { prefix },
  }
  const comments =
    harness.judged === null ? {} : { metric: renderTiers(harness.judged, describeLogged(goal)) }
  const spec = { path: specPath, text: renderSpec(values, comments) }
  const files = [spec, ...harness.files.map(({ path, text }) => ({ path: toRepositoryPath(path), text }))]
  const edit = harness.edit === null ? null : toRepositoryPath(harness.edit)
  const commands = [setup, harness.command, ...gates.map(({ command }) => command)]
  const isPlaceholder = harness.files.some(({ text }) => findTodoLine(text) !== null)
  return {
    files,
    specPath,
    edit,
    calls: harness.calls,
    isPlaceholder,
    primary: {
      metric: getPrimaryName(goal, harness),
      target: computeTarget(goal, harness),
      ...(isText ? { isText } : {}),
    },
    guessed: findGuessedMetric(goal, harness),
    commands,
    notes: [...findings.notes, ...notes],
  }
}

function findGuessedMetric(goal: Goal | null, harness: DraftHarness): string | null {
  const { metric, files } = harness
  if (metric === null || files.length > 0 || getPrimaryName(goal, harness) !== metric.name) return null
  return isNotSpeed(metric.name) ? null : metric.name
}

/** One campaign improves one text. */
function narrowToText({ detected: { findings }, goal }: DraftRequest): Findings {
  if (findings.language !== 'text') return findings
  const texts = findings.texts ?? []
  const chosen = chooseText(texts, goal?.subjects ?? [])
  const others = texts.filter(path => path !== chosen)
  const shown = others.slice(0, 5).join(', ') + (others.length > 5 ? ', …' : '')
  const notes = others.length === 0 ? [] : [`also here: ${shown}; name one in --goal to improve that instead`]
  return { ...findings, mutable: [chosen], notes }
}

function draftTextHarness(
  { project, name, goal }: DraftRequest,
  [path = '']: readonly string[],
): DraftHarness {
  const drafted = buildTextHarness(name, path, project.files)
  const isShortened = goal?.aim?.kind === 'hard' && goal.aim.metric === 'bytes'
  if (goal?.aim?.kind === 'hard' && !isShortened)
    throw new UserError(`${path} is a text: it has no ${goal.aim.metric} to measure`, {
      fix: 'name a quality, such as winnow init --goal "clearer instructions"; or commit the program that is to be measured',
    })
  const metric = isShortened ? { name: 'length_tokens', direction: 'minimize' as const } : null
  const judged = isShortened
    ? null
    : { ...TEXT_SUBJECT, head: TEXT_RUBRIC_HEAD, sample: TEXT_SUBJECT.buckets }
  const fixed = { setup: [], output: 'json', edit: null, calls: null } as const
  return { ...fixed, setup: [], ...drafted, metric, judged }
}

function describeLogged(goal: Goal | null): string | null {
  return (goal === null ? null : getLoggedMetric(goal))?.name ?? null
}

function draftHarness(request: DraftRequest, findings: Findings): DraftHarness {
  const { project, name, goal } = request
  const { bench, language, entry, interpreter } = findings
  if (language === 'text') return draftTextHarness(request, findings.mutable)
  const own = findings.setup === null ? [] : [findings.setup.command]
  const plain = {
    setup: own,
    output: 'json',
    metric: null,
    files: [],
    edit: null,
    calls: null,
    gates: [],
    diagnostics: [],
    judged: goal?.aim?.kind === 'judge' ? describeJudged(goal, bench) : null,
  } satisfies Partial<DraftHarness>
  if (goal?.aim?.kind === 'hard' && goal.aim.metric === 'bytes' && bench?.metric?.name !== 'bytes') {
    const { file, command, measures } = buildSizeHarness(findings, name, project.files.paths)
    const gates = [{ name: 'bytes', check: '> 0' }]
    const build = findings.product?.build
    const setup = build === undefined || own.some(each => each.includes(build)) ? own : [...own, build]
    return { ...plain, setup, command, files: [file], edit: file.path, calls: measures, gates }
  }
  if (goal?.aim?.kind === 'judge' && bench?.printsItems !== true) {
    const { subject } = goal
    const { file, command } = buildItemsHarness(name, subject)
    const calls = 'one item that stands for the outputs to be judged'
    const { gates, diagnostics } = subject
    return {
      ...plain,
      command,
      files: [file],
      edit: file.path,
      calls,
      gates: [...gates],
      diagnostics: [...diagnostics],
    }
  }
  if (bench !== null) return { ...plain, ...bench }
  const skeleton = buildSkeleton(language, { name, entry, interpreter })
  const { edit, command, build, calls } = skeleton
  const isWanted = goal?.isStartup === true && (entry?.kind === 'program' || entry?.kind === 'module')
  const files = isWanted
    ? skeleton.files.map(({ path, text }) => ({ path, text: removeTodoLine(text) }))
    : skeleton.files
  const setup = [...(skeleton.buildsProject ? [] : own), ...(build === null ? [] : [build])]
  const metric = { name: SKELETON_METRIC, direction: 'minimize' } as const
  const gates = [{ name: SKELETON_OUTPUT, check: '> 0' }]
  return { ...plain, command, setup, metric, files, edit, calls, gates }
}

function describeJudged({ subject }: Goal, bench: Findings['bench']): JudgedDraft {
  const head =
    subject === ANY_OUTPUT ? 'how far this output reaches the goal' : `the item, which is ${subject.item}`
  return { ...subject, head, sample: bench?.printsItems === true ? null : subject.buckets }
}

/** A harness in a mutable directory could be changed by an experiment. */
function protectHarness({ mutable, immutable }: Findings, files: readonly NewFile[]): string[] {
  const matches = mutable.map(compilePathspec)
  const exposed = files.some(({ path }) => matches.some(match => match(path)))
  return exposed && !immutable.includes('bench/') ? [...immutable, 'bench/'] : immutable
}

/**
 * The metric of the goal takes precedence over that of the harness. Metrics that winnow measures itself need
 * no output.
 */
function draftMetric(goal: Goal | null, harness: DraftHarness): SpecValues | undefined {
  const gates = harness.gates.length === 0 ? undefined : harness.gates.map(gate => ({ ...gate }))
  if (harness.judged !== null) return draftJudgedMetric(goal, harness, harness.judged)
  const target = computeTarget(goal, harness) ?? undefined
  const primary = selectPrimary(goal, harness.metric)
  if (primary === null)
    return target === undefined ? gates && { degenerate_gates: gates } : { primary: { target } }
  return { primary: { ...primary, target }, degenerate_gates: gates }
}

const TIMED: PrintedMetric = { name: 'wall_seconds', direction: 'minimize' }

/** Null: the default of a spec, which is the time of the command. */
function selectPrimary(goal: Goal | null, printed: PrintedMetric | null): PrintedMetric | null {
  if (goal?.aim?.kind !== 'hard') return printed
  const { metric: name, direction } = goal.aim
  if (printed?.name === 'length_tokens') return printed
  // A metric of size does not serve a goal of speed.
  if (name === 'wall_seconds') return printed !== null && isNotSpeed(printed.name) ? null : printed
  if (name === 'throughput' && printed !== null && isRate(printed.name)) return printed
  return { name, direction }
}

function getPrimaryName(
  goal: Goal | null,
  { judged, metric }: Pick<DraftHarness, 'metric' | 'judged'>,
): string {
  return judged === null ? (selectPrimary(goal, metric) ?? TIMED).name : 'quality'
}

function computeTarget(goal: Goal | null, harness: DraftHarness): number | null {
  const target = goal?.target ?? null
  return target === null ? null : convertTarget(target, selectPrimary(goal, harness.metric) ?? TIMED)
}

/** Starts with the caps of a first run. Only the person can say whether rubric, buckets and items are right. */
function draftJudgedMetric(
  goal: Goal | null,
  { gates, diagnostics }: DraftHarness,
  judged: JudgedDraft,
): SpecValues {
  const { head, sample, alsoReport } = judged
  const logged = goal === null ? null : getLoggedMetric(goal)
  return {
    primary: { type: 'judge', name: 'quality', direction: 'maximize' },
    degenerate_gates: gates.length === 0 ? undefined : gates.map(gate => ({ ...gate })),
    objectives: logged === null ? undefined : [{ ...logged, role: 'secondary' }],
    diagnostics: diagnostics.length === 0 ? undefined : diagnostics.map(name => ({ name })),
    judge: {
      rubric: renderRubric(goal?.words ?? null, head, judged),
      scoring: { primary: 'quality', secondary: [...alsoReport] },
      model: 'cheap',
      sample_size: FIRST_RUN.items,
      stratification: sample?.map(({ bucket, count }) => ({ bucket, count })),
      batch_size: FIRST_RUN.batch,
      max_total_cost_usd: FIRST_RUN.usd,
    },
  }
}

/**
 * Gates are the tests. Without tests, a gate checks that the harness works, unless a metric gate does so
 * already.
 */
function draftGates(
  { test, language }: Findings,
  harness: Pick<DraftHarness, 'command' | 'gates' | 'judged' | 'files'>,
): { gates: { name: string; command: string }[]; notes: string[] } {
  if (test !== null) return { gates: [{ name: 'tests', command: test.command }], notes: [] }
  if (language === 'text') return { gates: [], notes: describeTextCases(harness) }
  const note =
    'init found no tests, so no gate checks that the answers stay right: add gates: [{ name: tests, command: … }] before you trust a gain'
  const gates = harness.gates.length > 0 ? [] : [{ name: 'runs', command: harness.command }]
  return { gates, notes: [note] }
}

function describeTextCases({ judged, files }: Pick<DraftHarness, 'judged' | 'files'>): string[] {
  const cases = files.find(({ path }) => path.endsWith('.json'))?.path ?? ''
  if (judged === null)
    return [
      `no reader is asked: length alone improves when instructions go; winnow init --goal "clearer" drafts a judged metric`,
    ]
  return [
    `a model scores how a reader does in each case of ${cases}: replace the cases by real ones; set WINNOW_MODEL_URL and WINNOW_MODEL_KEY (docs/judging.md)`,
  ]
}

export function buildSpecName(goal: Goal | null, packageName: string | null, isText = false): string {
  const what = goal === null ? (isText ? 'quality' : 'speed') : getAimName(goal)
  const kebab = (packageName ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
  return kebab === '' ? what : `${kebab}-${what}`
}

// Branches

interface ChosenPrefix {
  prefix: string
  /** The branch that conflicts with the usual prefix. Null: no conflict. */
  because: string | null
}

const FAMILIES = ['', '-exp', '-campaign', '-state', '-closed', '-archive']
const CANDIDATES = ['optimize', 'winnow', 'winnow-optimize', 'optimize-winnow']

/** winnow never writes branches that it did not make, and git cannot store a branch below another one. */
export function choosePrefix(
  branches: readonly string[],
  name: string,
  isOurs: (branch: string) => boolean,
): ChosenPrefix {
  const others = branches.map(toShortRef).filter(branch => !isOurs(branch))
  const because = findConflictingBranch(others, 'optimize', name)
  const numbered = Array.from({ length: branches.length + 1 }, (_, index) => `optimize-${index + 2}`)
  const prefix = [...CANDIDATES, ...numbered].find(each => findConflictingBranch(others, each, name) === null)
  return { prefix: prefix ?? 'optimize', because }
}

function findConflictingBranch(branches: readonly string[], prefix: string, name: string): string | null {
  const found = branches.find(branch =>
    FAMILIES.some(family => {
      const top = `${prefix}${family}`
      const own = `${top}/${name}`
      return branch === top || branch === own || branch.startsWith(`${own}/`)
    }),
  )
  return found ?? null
}

// YAML

type SpecScalar = string | number | boolean
type SpecValue = SpecScalar | readonly SpecValue[] | { readonly [key: string]: SpecValue | undefined }
type SpecValues = Readonly<Record<string, SpecValue | undefined>>

/**
 * The address works once the package is published under this name. Without it, an editor only lacks
 * completion.
 */
export const SCHEMA_URL = 'https://unpkg.com/git-winnow/schema/spec.schema.json'
const REFERENCE_URL = 'https://unpkg.com/git-winnow/docs/spec.md'

/** Renders one line per section, and a section with a text of several lines as a block. Leaves out defaults. */
export function renderSpec(
  values: SpecValues,
  comments: Readonly<Record<string, readonly string[]>> = {},
): string {
  const lines = Object.entries(values).flatMap(([key, value]) => {
    if (value === undefined) return []
    const above = (comments[key] ?? []).map(line => `# ${line}`)
    const flow = `${key}: ${renderFlow(value)}`
    return [...above, flow.includes('\\n') ? stringify({ [key]: value }, { lineWidth: 0 }).trimEnd() : flow]
  })
  return [
    `# yaml-language-server: $schema=${SCHEMA_URL}`,
    `# Every key and its default: ${REFERENCE_URL}`,
    ...lines,
    '',
  ].join('\n')
}

function renderFlow(value: SpecValue): string {
  if (typeof value !== 'object') return renderScalar(value)
  if (isList(value)) return `[${value.map(renderFlow).join(', ')}]`
  const pairs = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [`${key}: ${renderFlow(inner)}`],
  )
  return `{ ${pairs.join(', ')} }`
}

function isList(value: SpecValue): value is readonly SpecValue[] {
  return Array.isArray(value)
}

/** Quotes scalars as a flow sequence requires, which is safe in every other position too. */
function renderScalar(value: SpecScalar): string {
  return stringify([value], { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 })
    .trim()
    .slice(1, -1)
}
