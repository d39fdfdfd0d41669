import { z } from 'zod'
import type { Spec } from '../spec/schema.ts'
import { getOwnValue } from './own-value.ts'

/** What a report and an event have room for: tasks of one execution, and characters of a task's id. */
export const MAX_TASKS = 1_000
export const MAX_TASK_ID = 200

/** The score of each task; null for one that is missing or no finite number. */
export const taskScoresSchema = z.record(z.string(), z.number().nullable())
export type TaskScores = z.infer<typeof taskScoresSchema>

/** Facts about tasks, as a harness prints them. A task without a direction has that of the primary metric. */
export const taskFactsSchema = z.record(
  z.string(),
  z.strictObject({ direction: z.enum(['minimize', 'maximize']) }),
)
export type TaskFacts = z.infer<typeof taskFactsSchema>
export type TaskDirection = TaskFacts[string]['direction']

/** One task on both sides: the means of its runs. */
export interface TaskChange {
  task: string
  base: number | null
  candidate: number | null
  direction: TaskDirection
}

/** What winnow remembers of an experiment's tasks. The ledger has all of them. */
export interface TaskSummary {
  tasks: number
  better: number
  worse: number
  /** The tasks that lost most, at most `WORST_TASKS`. */
  worst: TaskChange[]
}

export const WORST_TASKS = 5

interface TaskRun {
  tasks?: TaskScores | undefined
  tasks_meta?: TaskFacts | undefined
}

/** A task that any run printed without a score has no mean: missing is not good. */
export function computeTaskMeans(runs: readonly TaskRun[]): TaskScores {
  const sums = new Map<string, { sum: number | null; count: number }>()
  for (const { tasks = {} } of runs)
    for (const [task, score] of Object.entries(tasks)) {
      const { sum, count } = sums.get(task) ?? { sum: 0, count: 0 }
      sums.set(task, { sum: sum === null || score === null ? null : sum + score, count: count + 1 })
    }
  return Object.fromEntries(
    [...sums].map(([task, { sum, count }]) => [task, sum === null ? null : sum / count]),
  )
}

/** Compares the tasks of both sides, in the order in which the base printed them. */
export function compareTasks(
  base: readonly TaskRun[],
  candidate: readonly TaskRun[],
  direction: TaskDirection,
): TaskChange[] {
  const [before, after] = [computeTaskMeans(base), computeTaskMeans(candidate)]
  const facts: TaskFacts = {}
  for (const run of [...candidate, ...base]) Object.assign(facts, run.tasks_meta)
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].map(task => ({
    task,
    base: getOwnValue(before, task) ?? null,
    candidate: getOwnValue(after, task) ?? null,
    direction: getOwnValue(facts, task)?.direction ?? direction,
  }))
}

/** Positive is better. A candidate without a score has lost its task; without a base nothing is known. */
export function computeTaskGain({ base, candidate, direction }: TaskChange): number | null {
  if (base === null) return null
  if (candidate === null) return Number.NEGATIVE_INFINITY
  return direction === 'minimize' ? base - candidate : candidate - base
}

export function sortByTaskGain(changes: readonly TaskChange[]): TaskChange[] {
  const gain = (change: TaskChange) => computeTaskGain(change) ?? 0
  return changes.toSorted((a, b) => gain(a) - gain(b) || (a.task < b.task ? -1 : 1))
}

/** The weakest first; a missing score is the weakest. */
export function sortWeakestFirst(tasks: TaskScores, direction: TaskDirection): [string, number | null][] {
  const rank = (score: number | null) =>
    score === null ? Number.NEGATIVE_INFINITY : direction === 'minimize' ? -score : score
  return Object.entries(tasks).toSorted(([, a], [, b]) =>
    rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0,
  )
}

/** Null where no task was printed. */
export function summarizeTasks(changes: readonly TaskChange[]): TaskSummary | null {
  if (changes.length === 0) return null
  const losing = sortByTaskGain(changes).filter(change => (computeTaskGain(change) ?? 0) < 0)
  return {
    tasks: changes.length,
    better: changes.filter(change => (computeTaskGain(change) ?? 0) > 0).length,
    worse: losing.length,
    worst: losing.slice(0, WORST_TASKS),
  }
}

// Tasks of a spec

type TaskSections = { measurement: Pick<Spec['measurement'], 'suite' | 'per_case' | 'stability'> }

/** Each task is a pair of its own: the tasks of a suite, or those that one execution prints. */
export function isPairedByTask({ measurement }: TaskSections): boolean {
  const { suite, per_case, stability } = measurement
  return stability === null && (suite !== null || per_case === true)
}

export type SuiteTask = NonNullable<Spec['measurement']['suite']>['tasks'][number]

export function findSuiteTask({ measurement }: Pick<Spec, 'measurement'>, name: string): SuiteTask | null {
  return measurement.suite?.tasks.find(task => task.name === name) ?? null
}
