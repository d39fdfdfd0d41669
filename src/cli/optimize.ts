import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { formatCount, formatRounded, roundNumbers } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/campaign/open.ts'
import { UserError } from '../errors.ts'
import { renderModelSpending } from '../report/check-trial.ts'
import { toShortId } from '../report/event-log.ts'
import { computeSuiteMean } from '../report/tasks.ts'
import { parseSpec } from '../spec/load.ts'
import type { Spec } from '../spec/schema.ts'
import { mapSuite, type SuiteOptions } from '../spec/suite.ts'
import { readGivenFile, withRepository } from './context.ts'
import { readDefaultTip } from './default-branch.ts'
import { DEFAULT_PREFIX } from './known-campaigns.ts'
import { chooseSpendingCap, readSpendingCap, SPENDING_OPTIONS } from './harness-models.ts'
import { SPEC_HARNESS, withHarnessModels } from './harness-run.ts'
import { trySuite } from './trial.ts'
import { type Call, refuseOptions, type Verb } from './verb.ts'

export const optimizeVerb: Verb = {
  name: 'optimize',
  group: 'more',
  summary: 'run every task of a suite once and show its loss; reads suites of AWP',
  access: 'apart',
  arguments: [{ name: 'suite', summary: 'the suite of AWP, or a spec with a suite', required: true }],
  options: [
    { name: 'command', value: 'command', summary: 'what runs one task, instead of awp run' },
    { name: 'seeds', value: 'number', summary: 'runs of each task in one pass; by default 1' },
    { name: 'epochs', value: 'number', summary: 'passes that may each try one update' },
    {
      name: 'learning-rate',
      value: 'share',
      summary: 'share of its lines that a rewrite may change, 0 to 1',
    },
    { name: 'with-textgrad', summary: 'have a model rewrite one artifact after each epoch' },
    { name: 'no-rollback', summary: 'keep updates that made the loss worse' },
    { name: 'metered', summary: 'let the tasks ask their models through winnow, which counts the cost' },
    ...SPENDING_OPTIONS,
    { name: 'target', value: 'experiment:task', summary: 'a campaign of its own for this task' },
    { name: 'write', summary: 'write the spec to .winnow/, so that winnow run continues with it' },
    { name: 'no-try', summary: 'show the spec, and run nothing' },
    { name: 'json', summary: 'print JSON' },
  ],
  examples: [
    'winnow optimize suite.yaml',
    'winnow optimize suite.yaml --command "sh run-task.sh" --write',
    'winnow optimize suite.yaml --epochs 5 --learning-rate 0.5 --with-textgrad --write',
    'winnow optimize suite.yaml --target alpha:plan --write',
    'winnow optimize suite.yaml --metered --spend 2',
    'winnow optimize .winnow/fact-card.yaml --json',
  ],
  exits: { 13: 'no task could be run' },
  run: call =>
    withRepository(call, DEFAULT_PREFIX, repositoryContext => runOptimize(call, repositoryContext)),
}

const WHAT = 'winnow optimize'

async function runOptimize(call: Call, repositoryContext: RepositoryContext): Promise<number> {
  const suite = await readSuite(call)
  const { spec, notes } = suite
  const cap = call.given.flag('no-try')
    ? readSpendingCap(call, spec)
    : chooseSpendingCap(call, spec, { what: WHAT })
  const asJson = call.given.flag('json')
  const print = (lines: readonly string[]) => {
    if (!asJson) for (const line of lines) call.terminal.out(line)
  }
  print([...renderSpec(suite), ...(await writeSpec(call, repositoryContext, suite))])
  const about = { suite: suite.name, campaign: spec.name, spec: suite.yaml, notes }
  if (call.given.flag('no-try')) {
    if (asJson) call.terminal.json({ ...about, pass: null, models: null })
    return 0
  }
  const base = await readDefaultTip(repositoryContext, call.environment)
  const harness = { ...SPEC_HARNESS, what: WHAT, call, repositoryContext, spec, base }
  const { result, spending } = await withHarnessModels(harness, cap, trySuite)
  const { pass, seconds, tasks } = result
  const mean = computeSuiteMean(pass)
  if (asJson) {
    const measured = { commit: base.commit, mean, tasks: pass }
    call.terminal.json(roundNumbers({ ...about, pass: measured, models: spending }))
  }
  const runs = pass.reduce((sum, each) => sum + each.runs, 0)
  const value = mean === null ? 'missing' : formatRounded(mean, 4)
  const effort = `${formatCount(runs, 'run')} of ${formatRounded(seconds, 3)} s`
  print([
    `baseline ${toShortId(base.commit)}: mean ${spec.metric.primary.name} ${value} over ${formatCount(pass.length, 'task')}, ${effort}`,
    ...tasks,
    ...(spending === null ? [] : [renderModelSpending(spending)]),
  ])
  return 0
}

interface GivenSuite {
  /** As its file names it. */
  name: string
  spec: Spec
  yaml: string
  notes: string[]
  /** Where the spec belongs; null for a spec that is a file already. */
  path: string | null
}

const IS_SPEC = /^winnow:/m

async function readSuite(call: Call): Promise<GivenSuite> {
  const file = call.given.positionals[0] ?? ''
  const text = await readGivenFile(call, file)
  if (!IS_SPEC.test(text)) {
    const { suite: name, yaml, path, notes } = mapSuite(text, file, readSuiteOptions(call))
    const { spec, notes: more } = parseSpec(yaml, { file: path })
    return { name, spec, yaml, path, notes: [...notes, ...more] }
  }
  for (const [option, key] of Object.entries(KEYS_IN_SPECS))
    if (call.given.flag(option))
      throw new UserError(`--${option} is for a suite of AWP, and ${file} is a spec`, {
        fix: `change ${key} in it`,
      })
  refuseOptions(call, ['write'], `is for a suite of AWP, and ${file} is a spec already`)
  const { spec, notes } = parseSpec(text, { file })
  if (spec.measurement.suite === null)
    throw new UserError(`${file} has no suite`, {
      place: { file, path: 'measurement.suite' },
      fix: 'add measurement.suite: { tasks }, or use winnow run',
    })
  return { name: spec.name, spec, yaml: text, path: null, notes }
}

const KEYS_IN_SPECS = {
  command: 'measurement.command',
  seeds: 'measurement.suite.seeds',
  epochs: 'epochs.count',
  'learning-rate': 'epochs.learning_rate',
  'with-textgrad': 'propose',
  'no-rollback': 'epochs.rollback_on_regression',
  metered: 'measurement.models',
  target: 'name',
} as const

function readSuiteOptions(call: Call): SuiteOptions {
  const { given } = call
  const command = given.text('command')
  const seeds = given.text('seeds')
  if (seeds !== undefined && !/^[1-9]\d*$/.test(seeds))
    throw new UserError(`--seeds ${seeds} is not a whole number above 0`, { fix: 'write --seeds 4' })
  return {
    ...(command === undefined ? {} : { command }),
    ...(seeds === undefined ? {} : { seeds: Number(seeds) }),
    metered: given.flag('metered'),
    ...readLearningOptions(call),
  }
}

function readLearningOptions({ given }: Call): SuiteOptions {
  const epochs = given.text('epochs')
  if (epochs !== undefined && !/^[1-9]\d*$/.test(epochs))
    throw new UserError(`--epochs ${epochs} is not a whole number above 0`, { fix: 'write --epochs 5' })
  const rate = given.text('learning-rate')
  if (rate !== undefined && !(Number(rate) > 0 && Number(rate) <= 1))
    throw new UserError(`--learning-rate ${rate} is not a number above 0, at most 1`, {
      fix: 'write --learning-rate 0.5',
    })
  const target = given.text('target')
  if (target !== undefined && !/^[^:\s]+:[^:\s]+$/.test(target))
    throw new UserError(`--target ${target} does not name an experiment and a task`, {
      fix: 'write --target <experiment>:<task>',
    })
  return {
    ...(epochs === undefined ? {} : { epochs: Number(epochs) }),
    ...(rate === undefined ? {} : { learningRate: Number(rate) }),
    ...(target === undefined ? {} : { target }),
    textGradient: given.flag('with-textgrad'),
    noRollback: given.flag('no-rollback'),
  }
}

function renderSpec({ path, yaml, notes }: GivenSuite): string[] {
  const lines =
    path === null
      ? []
      : [
          `the suite as a spec (${path}):`,
          ...yaml
            .trimEnd()
            .split('\n')
            .map(line => `  ${line}`),
        ]
  return [...lines, ...notes.map(note => `note: ${note}`)]
}

/** Never replaces a spec that a person may have changed. */
async function writeSpec(
  { given }: Call,
  { checkout: { topLevel } }: RepositoryContext,
  { path, yaml }: GivenSuite,
): Promise<string[]> {
  if (!given.flag('write') || path === null) return []
  if (topLevel === null)
    throw new UserError('this is a bare repository, and --write needs a work tree', {
      fix: 'run it in a clone',
    })
  const file = join(topLevel, path)
  if (existsSync(file) && readFileSync(file, 'utf8') !== yaml)
    throw new UserError(`${path} exists already, and is another spec`, {
      place: { file: path },
      fix: 'move it away, or give its path instead of the suite',
    })
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, yaml)
  return [`wrote ${path}; commit it, then start with winnow run`]
}
