import { stringify } from 'yaml'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import {
  describeUnknownKey,
  formatPath,
  SpecErrors,
  type SpecFinding,
  type SpecPath,
  toFindings,
} from './errors.ts'
import { findNearestWord } from './nearest-word.ts'
import { reportRepeatedNames } from './rule-context.ts'
import { toKebabName } from './schema.ts'
import { countSchema, naturalSchema, textSchema } from './schema-values.ts'
import { AWP_ARTIFACTS } from './spec-facts.ts'
import { readDocument, type SourceDocument } from './yaml-document.ts'

/** Fewer pairs of (task, seed) cannot reach any threshold, even when every one of them is better. */
export const MIN_SUITE_PAIRS = 12

/** Its text grades the runs, so their grades must not change it. */
const LEARNED_GRADER = 'critique_rubric'

/** Starts the workflow of a task and has it write run_completion.json and metrics.jsonl. */
const AWP_COMMAND =
  'awp run "${WINNOW_TASK_WORKFLOW:-workflow.awp.yaml}" --task "$WINNOW_TASK_TEXT" --output-dir "$WINNOW_OUT_DIR"'

const ARTIFACT_FOLDER = 'prompts'

export interface SuiteOptions {
  /** The command that runs one task. Default: AWP's. */
  command?: string
  /** Seeds of each task. Default: 1, one run of each task. */
  seeds?: number
  /** Passes that may each try one update. */
  epochs?: number
  learningRate?: number
  /** A model rewrites artifacts. */
  textGradient?: boolean
  noRollback?: boolean
  /** The tasks ask their models through winnow. */
  metered?: boolean
  /** `<experiment>:<task>`: the campaign has its own name, so it touches no other. */
  target?: string
}

/** A suite as a spec. */
export interface SuiteSpec {
  /** The name in the suite, which may have underscores. */
  suite: string
  /** The name of the spec and of its campaign. */
  name: string
  path: string
  /** The spec as a mapping, and as the text of its file. */
  values: Record<string, unknown>
  yaml: string
  /** What a person should know about the mapping: what it changed, and what it could not keep. */
  notes: string[]
}

const weightSchema = z.number().nonnegative()

const suiteFileSchema = z.looseObject({
  name: textSchema,
  description: z.string().optional(),
  baseline_artifacts: z.record(textSchema, naturalSchema).optional(),
  tasks: z
    .array(
      z.looseObject({
        name: textSchema,
        task: textSchema,
        workflow: textSchema.optional(),
        model: textSchema.optional(),
        worker_model: textSchema.optional(),
        budget: z.record(textSchema, z.number().positive()).optional(),
        weights: z.record(textSchema, weightSchema).optional(),
      }),
    )
    .min(1),
})
type SuiteFile = z.output<typeof suiteFileSchema>

const SUITE_KEYS = ['name', 'description', 'baseline_artifacts', 'tasks']
const TASK_KEYS = ['name', 'task', 'workflow', 'model', 'worker_model', 'budget', 'weights']

/** Turns an AWP suite (`awp optimize suite.yaml`) into a spec. Throws all problems of the file at once. */
export function mapSuite(text: string, file: string, options: SuiteOptions = {}): SuiteSpec {
  const suite = parseSuite(readDocument(text, file))
  const seeds = countSchema.parse(options.seeds ?? 1)
  const { target } = options
  const name = toKebabName(target?.replace(':', '-') ?? suite.name) || 'suite'
  const about = [suite.description, target && `Attached to ${target}.`].filter(Boolean).join(' ')
  const artifacts = Object.keys(suite.baseline_artifacts ?? {})
  const named = artifacts.length > 0 ? artifacts : AWP_ARTIFACTS
  const learned = named.filter(artifact => artifact !== LEARNED_GRADER)
  const pairs = suite.tasks.length * seeds
  const advisory = pairs < MIN_SUITE_PAIRS
  const values = {
    winnow: 1,
    name,
    ...(about === '' ? {} : { description: about }),
    metric: {
      primary: { type: 'loss', name: 'loss', direction: 'minimize' },
      loss: { missing: 'neutral' },
    },
    measurement: {
      command: options.command ?? AWP_COMMAND,
      ...(options.metered ? { models: 'metered' } : {}),
      suite: {
        ...(seeds === 1 ? {} : { seeds }),
        ...(advisory ? { advisory: true } : {}),
        tasks: suite.tasks.map(selectKnownKeys),
      },
    },
    ...(options.metered ? { models: listTaskModels(suite, file).map(id => ({ id })) } : {}),
    scope: { mutable: [`${ARTIFACT_FOLDER}/`] },
    artifacts: learned.map(artifact => ({ name: artifact, path: `${ARTIFACT_FOLDER}/${artifact}.md` })),
    ...mapLearning(options),
  }
  const notes = [
    ...(name === suite.name || target !== undefined
      ? []
      : [`the suite ${suite.name} is the campaign ${name}: branch names have hyphens`]),
    ...(options.command === undefined
      ? [
          'measurement.command starts AWP: change it (winnow optimize --command) if your tasks run in another way',
        ]
      : []),
    ...(advisory ? [describeAdvisory(suite.tasks.length, seeds)] : []),
    ...describePins(suite),
    ...(target === undefined
      ? []
      : [`${target} is the campaign ${name}, with branches and a ledger of its own`]),
    ...(named.includes(LEARNED_GRADER)
      ? [`${LEARNED_GRADER} is not learned: it grades the runs, and its grade is part of the loss`]
      : []),
    ...listUnknownKeys(suite).map(path => `${path} was not kept: winnow does not know this key`),
  ]
  return { suite: suite.name, name, path: `.winnow/${name}.yaml`, values, yaml: stringify(values), notes }
}

/** Flags of `awp optimize`. Without a text gradient, every epoch measures the unchanged artifacts. */
function mapLearning({
  epochs,
  learningRate,
  textGradient,
  noRollback,
}: SuiteOptions): Record<string, unknown> {
  const given = {
    ...(epochs === undefined ? {} : { count: epochs }),
    ...(learningRate === undefined ? {} : { learning_rate: learningRate }),
    ...(noRollback ? { rollback_on_regression: false } : {}),
  }
  const isLearning = textGradient === true
  return {
    ...(isLearning || Object.keys(given).length > 0 ? { epochs: given } : {}),
    ...(isLearning ? { propose: [{ use: 'textgrad' }] } : {}),
  }
}

/** For suites that cannot prove anything: how many seeds would. */
function describeAdvisory(tasks: number, seeds: number): string {
  const pairs = tasks * seeds
  return `advisory: true, because ${pairs} (task, seed) ${pairs === 1 ? 'pair proves' : 'pairs prove'} nothing: means decide. ${MIN_SUITE_PAIRS} pairs can prove a gain: ${describeSeedsNeeded(tasks)} and remove advisory`
}

export function describeSeedsNeeded(tasks: number): string {
  return `set seeds: ${Math.ceil(MIN_SUITE_PAIRS / tasks)}`
}

function selectKnownKeys(task: SuiteFile['tasks'][number]): Record<string, unknown> {
  return Object.fromEntries(TASK_KEYS.flatMap(key => (task[key] === undefined ? [] : [[key, task[key]]])))
}

function listUnknownKeys(suite: SuiteFile): string[] {
  const inTasks = suite.tasks.flatMap((task, index) =>
    Object.keys(task).flatMap(key => (TASK_KEYS.includes(key) ? [] : [formatPath(['tasks', index, key])])),
  )
  return [...Object.keys(suite).filter(key => !SUITE_KEYS.includes(key)), ...inTasks]
}

function listTaskModels({ tasks }: SuiteFile, file: string): string[] {
  const named = tasks.flatMap(({ model, worker_model }) => [model ?? [], worker_model ?? []].flat())
  if (named.length > 0) return [...new Set(named)]
  throw new UserError(`no task of ${file} names a model, so --metered would allow none`, {
    place: { file, path: 'tasks[0].model' },
    fix: 'add model: to the tasks, or leave --metered out',
  })
}

/** Version 0 is the text in the repository. Other versions are in AWP's database, which winnow does not read. */
function describePins({ baseline_artifacts: pins = {} }: SuiteFile): string[] {
  return Object.entries(pins).flatMap(([artifact, version]) =>
    version === 0
      ? []
      : [
          `baseline_artifacts.${artifact}: version ${version} is in AWP's database: write its text to ${ARTIFACT_FOLDER}/${artifact}.md`,
        ],
  )
}

// Reading

const KNOWN_KEYS = new Map([
  ['', new Set(SUITE_KEYS)],
  ['tasks', new Set(TASK_KEYS)],
])

function parseSuite(source: SourceDocument): SuiteFile {
  const parsed = suiteFileSchema.safeParse(source.value)
  const misspelt = findMisspeltKeys(source.value)
  const meant = new Set(
    misspelt.map(({ path, didYouMean = '' }) => formatPath([...path.slice(0, -1), didYouMean])),
  )
  const found = parsed.success
    ? reportRepeatedNames(
        'tasks',
        parsed.data.tasks,
        'a name no other task has',
        'rename one of the two tasks',
      )
    : parsed.error.issues.flatMap(issue => toFindings(issue, { raw: source.value, known: KNOWN_KEYS }))
  const findings = [...misspelt, ...found.filter(({ path }) => !meant.has(formatPath(path)))]
  if (!parsed.success || findings.length > 0)
    throw new SpecErrors(findings.map(finding => source.problem(finding)))
  return parsed.data
}

/** Unknown keys that are nearly one of the keys that their mapping lacks. Others are left out with a note. */
function findMisspeltKeys(raw: unknown): SpecFinding[] {
  const suite = mappingSchema.parse(raw)
  const tasks = z.array(z.unknown()).safeParse(suite['tasks']).data ?? []
  const inTasks = tasks.flatMap((task, index) => listMisspelt(['tasks', index], mappingSchema.parse(task)))
  return [...listMisspelt([], suite), ...inTasks]
}

const mappingSchema = z.record(z.string(), z.unknown()).catch({})

function listMisspelt(parent: SpecPath, mapping: Record<string, unknown>): SpecFinding[] {
  const known = KNOWN_KEYS.get(parent.length === 0 ? '' : 'tasks') ?? new Set<string>()
  return Object.keys(mapping).flatMap(key => {
    const near = known.has(key) ? undefined : findNearestWord(key, known)
    if (near === undefined || Object.hasOwn(mapping, near)) return []
    return [describeUnknownKey(parent, key, KNOWN_KEYS)]
  })
}
