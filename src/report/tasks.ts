import { LOSS_PART } from '../decide/loss.ts'
import { formatCount, formatNumber, roundNumbers } from '../decide/wording.ts'
import { getOwnValue } from '../model/own-value.ts'
import {
  aggregateSamples,
  aggregateValues,
  type Execution,
  getNumber,
  type Report,
  toFinite,
} from '../model/report.ts'
import {
  compareTasks,
  computeTaskGain,
  sortByTaskGain,
  sortWeakestFirst,
  type TaskChange,
  type TaskScores,
  type TaskSummary,
} from '../model/tasks.ts'
import { toSafeLine } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { formatTable } from './terminal.ts'

/** A task on both sides, with the parts of its loss. */
export interface TaskResult extends TaskChange {
  /** Runs of the candidate that had this task. */
  runs: number
  /** Mean of each part of a loss, by component; absent without a loss. */
  parts?: Record<string, { base: number | null; candidate: number | null }>
}

const MAX_NAME = 60

/** The orders behind a verdict, and their runs (report/experiment.ts). */
interface TaskRecord {
  decisive: readonly { spec: Pick<Spec, 'metric'> | null }[]
  executions(side: 'base' | 'candidate'): Execution[]
}

/** Every task of the orders behind the verdict, the most harmed first. */
export function collectTaskResults(record: TaskRecord): TaskResult[] {
  const { direction } = record.decisive.at(-1)?.spec?.metric.primary ?? { direction: 'minimize' as const }
  const [base, candidate] = [record.executions('base'), record.executions('candidate')]
  const results = sortByTaskGain(compareTasks(base, candidate, direction)).map(change => {
    const [before, after] = [base, candidate].map(runs =>
      runs.filter(({ tasks = {} }) => Object.hasOwn(tasks, change.task)),
    )
    const parts = collectParts(before ?? [], after ?? [])
    const names = Object.keys(parts)
    return { ...change, runs: after?.length ?? 0, ...(names.length === 0 ? {} : { parts }) }
  })
  return roundNumbers(results)
}

/** Only a run of a suite has the parts of one task. */
function collectParts(
  base: readonly Execution[],
  candidate: readonly Execution[],
): NonNullable<TaskResult['parts']> {
  const runs = [...base, ...candidate].filter(({ task }) => task !== undefined)
  const names = new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)))
  const parts = [...names].filter(name => name.startsWith(LOSS_PART))
  return Object.fromEntries(
    parts.map(name => [
      name.slice(LOSS_PART.length),
      { base: computeMetricMean(base, name), candidate: computeMetricMean(candidate, name) },
    ]),
  )
}

function computeMetricMean(runs: readonly Execution[], name: string): number | null {
  return aggregateValues(
    runs.flatMap(({ metrics }) => getNumber(metrics, name) ?? []),
    'mean',
  )
}

const MAX_TASK_ROWS = 40

/** Worst first. For a loss, the parts that add up to the candidate's value. */
export function renderTaskTable(results: readonly TaskResult[]): string[] {
  if (results.length === 0) return []
  const parts = Object.keys(results.find(each => each.parts !== undefined)?.parts ?? {})
  const rows = results
    .slice(0, MAX_TASK_ROWS)
    .map(result => [
      `  ${toSafeLine(result.task, MAX_NAME)}`,
      formatScore(result.base),
      formatScore(result.candidate),
      describeTaskGain(result),
      ...parts.map(name => formatScore(result.parts?.[name]?.candidate ?? null)),
    ])
  const left = results.length - rows.length
  return [
    ...formatTable([['  task', 'base', 'candidate', '', ...parts], ...rows]),
    ...(left > 0 ? [`  … and ${formatCount(left, 'more task')}`] : []),
    '',
  ]
}

function describeTaskGain(change: TaskChange): string {
  const gain = computeTaskGain(change)
  if (gain === null || change.candidate === null) return ''
  return gain === 0 ? 'the same' : gain > 0 ? 'better' : 'worse'
}

export function formatScore(score: number | null): string {
  return score === null ? 'missing' : formatNumber(Number(score.toPrecision(4)))
}

/** One task in one pass of a suite over the base. */
export interface SuiteTaskResult {
  task: string
  score: number | null
  /** Mean of each part of a loss, by component. */
  parts: Record<string, number | null>
  runs: number
  /** Why runs failed, one for each. */
  failures: string[]
}

type SuiteReport = Pick<Report, 'executions'>

export function collectSuitePass(
  { metric }: Pick<Spec, 'metric'>,
  { executions }: SuiteReport,
): SuiteTaskResult[] {
  const runs = executions.filter(({ role, task }) => role === 'sample' && task !== undefined)
  const tasks = [...new Set(runs.flatMap(({ task }) => task ?? []))].toSorted()
  return tasks.map(task => {
    const own = runs.filter(run => run.task === task)
    const parts = Object.entries(collectParts(own, [])).map(([name, { base }]) => [name, base])
    return {
      task,
      score: computeWholeMean(own.map(run => getNumber(run.metrics, metric.primary.name))),
      parts: Object.fromEntries(parts),
      runs: own.length,
      failures: own.flatMap(({ error }) => error ?? []),
    }
  })
}

export function computeSuiteMean(results: readonly SuiteTaskResult[]): number | null {
  return computeWholeMean(results.map(({ score }) => score))
}

/** Null where one is missing: the mean of the others would be that of another suite. */
function computeWholeMean(scores: readonly (number | null)[]): number | null {
  return toFinite(aggregateSamples(scores, 'mean'))
}

/** Each task with its score and the parts of its loss, and the mean over the tasks. */
export function renderSuitePass(name: string, results: readonly SuiteTaskResult[]): string[] {
  const parts = [...new Set(results.flatMap(each => Object.keys(each.parts)))]
  const rows = results.map(({ task, score, parts: own, runs, failures: [first, ...others] }) => [
    `  ${toSafeLine(task, MAX_NAME)}`,
    formatScore(score),
    ...parts.map(part => formatScore(getOwnValue(own, part) ?? null)),
    first === undefined
      ? ''
      : `${others.length + 1} of ${formatCount(runs, 'run')} failed: ${toSafeLine(first, MAX_ERROR)}`,
  ])
  const mean = parts.map(part =>
    formatScore(
      aggregateValues(
        results.flatMap(each => getOwnValue(each.parts, part) ?? []),
        'mean',
      ),
    ),
  )
  return formatTable([
    ['  task', name, ...parts, ''],
    ...rows,
    ['  mean', formatScore(computeSuiteMean(results)), ...mean, ''],
  ])
}

const MAX_ERROR = 100

/** Example: "2 of 3 tasks got worse: octopi 0.31 -> 0.365, neutron_stars 0.525 -> 0.62". Null where none did. */
export function describeWorseTasks(summary: TaskSummary | null): string | null {
  if (summary === null || summary.worse === 0) return null
  const { worse, worst, tasks } = summary
  const shown = worst.map(
    ({ task, base, candidate }) =>
      `${toSafeLine(task, MAX_NAME)} ${formatScore(base)} -> ${formatScore(candidate)}`,
  )
  const more = worse > worst.length ? ` and ${worse - worst.length} more` : ''
  return `${worse} of ${formatCount(tasks, 'task')} got worse: ${shown.join(', ')}${more}`
}

/** The weakest tasks first, as "octopi 0.55, silk_road 0.31". */
export function describeWeakTasks(
  tasks: TaskScores,
  direction: TaskChange['direction'],
  most: number,
): string {
  const weak = sortWeakestFirst(tasks, direction)
  const shown = weak
    .slice(0, most)
    .map(([task, score]) => `${toSafeLine(task, MAX_NAME)} ${formatScore(score)}`)
  const more = weak.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
