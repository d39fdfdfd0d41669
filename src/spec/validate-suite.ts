import type { SpecFinding } from './errors.ts'
import {
  getGivenValue,
  reportFinding,
  reportRepeatedNames,
  type RuleContext,
  type SpecRule,
} from './rule-context.ts'
import { BUILT_IN_METRICS, isBenchmarkFormat } from './schema-values.ts'
import { describeSeedsNeeded, MIN_SUITE_PAIRS } from './suite.ts'

/** Suites, losses, and scores of single tasks. */
export const SUITE_RULES: readonly SpecRule[] = [
  requireLossSuite,
  requireMinimizedLoss,
  requireDecidableSuite,
  requireSuiteCommands,
  requireUniqueSuiteTasks,
  requireSuitePairs,
  refusePairsPerJob,
  requirePrintedTasks,
  requireComparableTasks,
]

function requireLossSuite({ spec }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'loss' || spec.measurement.suite !== null) return []
  const fix = 'add measurement.suite: { tasks }'
  return reportFinding('measurement.suite', 'nothing', 'a suite, over which a loss is taken', fix)
}

function requireMinimizedLoss({ spec }: RuleContext): SpecFinding[] {
  const { type, direction } = spec.metric.primary
  if (type !== 'loss' || direction === 'minimize') return []
  return reportFinding('metric.primary.direction', direction, 'minimize for a loss', 'write minimize')
}

/** Fewer pairs cannot reach any threshold, even when every one of them is better. */
function requireDecidableSuite({ spec }: RuleContext): SpecFinding[] {
  const { suite } = spec.measurement
  if (suite === null || suite.advisory) return []
  const pairs = suite.tasks.length * suite.seeds
  if (pairs >= MIN_SUITE_PAIRS) return []
  const found = `${pairs} (task, seed) ${pairs === 1 ? 'pair' : 'pairs'}`
  const fix = `add tasks, ${describeSeedsNeeded(suite.tasks.length)}, or set advisory: true`
  return reportFinding('measurement.suite', found, `at least ${MIN_SUITE_PAIRS}`, fix, 'key')
}

function requireSuiteCommands({ spec }: RuleContext): SpecFinding[] {
  const tasks = spec.measurement.suite?.tasks ?? []
  return tasks.flatMap((task, index) => {
    const ways = [task.command, task.args].filter(way => way !== undefined).length
    const described = task.task !== undefined || task.workflow !== undefined
    if (ways === 1 || (ways === 0 && described)) return []
    const found = ways === 2 ? 'command and args' : 'nothing to run'
    const path = ['measurement', 'suite', 'tasks', index]
    return reportFinding(path, found, 'command, args, task or workflow', 'give command or args')
  })
}

function requireUniqueSuiteTasks({ spec }: RuleContext): SpecFinding[] {
  const tasks = spec.measurement.suite?.tasks ?? []
  return reportRepeatedNames('measurement.suite.tasks', tasks, 'a name no other task has')
}

/** A suite is compared in one way: in pairs of (task, seed), or by its means where it is advisory. */
function requireSuitePairs({ spec, raw }: RuleContext): SpecFinding[] {
  const { suite, mode, output, stability } = spec.measurement
  const { type } = spec.metric.primary
  if (suite === null) return []
  const expected = 'pairs of (task, seed), which a suite sets, or its means with suite.advisory: true'
  const refuse = (key: string, found: string, fix: string) => reportFinding(key, found, expected, fix)
  if (type === 'judge') return refuse('metric.primary.type', 'judge with a suite', 'use type: loss or hard')
  const stored = stability !== null || getGivenValue(raw, 'measurement.stability') !== undefined
  // requireLegalMeasurement refuses both for a loss.
  if (type !== 'loss' && mode === 'once') return refuse('measurement.mode', 'once with a suite', 'remove it')
  if (type !== 'loss' && stored)
    return refuse('measurement.stability', 'stability with a suite', 'remove it (with winnow: 1)')
  if (isBenchmarkFormat(output))
    return refuse('measurement.output', `${output} with a suite`, 'let each task print its metric as json')
  if (spec.measurement.per_case === true)
    return refuse('measurement.per_case', 'true with a suite', 'remove it: tasks of a suite are pairs')
  return []
}

function refusePairsPerJob({ spec, raw }: RuleContext): SpecFinding[] {
  if (spec.measurement.suite === null || getGivenValue(raw, 'evidence.pairs_per_job') === undefined) return []
  const fix = 'remove it, and set measurement.suite.seeds'
  const found = String(spec.evidence.pairs_per_job)
  return reportFinding('evidence.pairs_per_job', found, 'tasks times seeds: one pass is one job', fix)
}

/** winnow measures these around a whole execution, so no task has a value of its own. */
function requirePrintedTasks({ spec }: RuleContext): SpecFinding[] {
  const { per_case, output, stability, suite } = spec.measurement
  if (per_case !== true || stability !== null || suite !== null) return []
  const { type, name } = spec.metric.primary
  const refuse = (found: string, fix: string) =>
    reportFinding('measurement.per_case', found, 'tasks with scores of their own', fix)
  if (type === 'judge') return refuse('true with a judge', 'remove it: items are compared in pairs')
  if (BUILT_IN_METRICS.has(name))
    return refuse(`true with ${name}`, 'let the harness print a score for each task, and name that metric')
  if (output !== 'json') return refuse(`true with output ${output}`, 'let the harness print json with tasks')
  return []
}

/** Tasks are compared in the same run or pair, so a stored score or a whole execution has nothing to compare. */
function requireComparableTasks({ spec, raw }: RuleContext): SpecFinding[] {
  const { max_task_regression: bound, primary } = spec.metric
  if (bound === undefined) return []
  const { suite, per_case, mode, stability, baseline } = spec.measurement
  const refuse = (path: string, found: string, expected: string, fix: string) =>
    reportFinding(path, found, expected, fix)
  const path = 'metric.max_task_regression'
  if (bound.value < 0) return refuse(`${path}.value`, String(bound.value), 'at least 0', 'write 0 or more')
  if (primary.type === 'loss' && suite === null) return []
  if (primary.type === 'judge')
    return refuse(path, 'a bound of tasks with a judge', 'a hard metric or a loss', 'remove it')
  const stored = stability !== null || getGivenValue(raw, 'measurement.stability') !== undefined
  if (stored && suite === null && baseline === 'cached')
    return refuse(path, 'tasks and a stored score', 'measurement.baseline: fresh', 'set baseline: fresh')
  if (stored || suite !== null || per_case === true || mode === 'once') return []
  const expected = 'pairs of tasks: measurement.per_case: true, or a suite'
  return refuse(path, 'pairs of whole executions', expected, 'set measurement.per_case: true')
}
