import { noteCeLeftovers } from './planned-features.ts'
import { getGivenValue, type RuleContext } from './rule-context.ts'
import { isJudgedMetric } from './spec-facts.ts'

/** Appears in every check, status and verdict of a campaign that decides by ce's comparison. */
export const NOT_NOISE_PROOF = 'compared with a stored score; not noise-proof'

const JUDGED_BY_MEANS =
  "ce's rule compares the means of two samples: chance alone can exceed minimum_improvement. With winnow: 1, confirmed pairs of items decide"

/** True when ce's rules compare with the incumbent's stored score instead of weighing evidence. */
export function isComparedWithStoredScore(spec: { measurement: { stability: unknown } }): boolean {
  return spec.measurement.stability !== null
}

export function listStatusNotes(spec: Parameters<typeof isComparedWithStoredScore>[0]): string[] {
  return isComparedWithStoredScore(spec) ? [NOT_NOISE_PROOF] : []
}

/** A forgotten `winnow: 1` changes every default. */
export const READ_AS_CE =
  'the file has no "winnow: 1", so winnow reads it as a ce-optimize spec with the defaults and rules of ce; for those of winnow, make "winnow: 1" the first line'

type SpecNote = (context: RuleContext) => string | false

export const MANY_WORK_TREES = 6

/** Fewer pairs of one task cannot show with an error of 5 % that it is not worse (decide/tasks.ts). */
const TASK_PAIRS = 7

const NOTES: readonly SpecNote[] = [
  ({ spec }) => isComparedWithStoredScore(spec) && NOT_NOISE_PROOF,
  ({ spec }) => isComparedWithStoredScore(spec) && isJudgedMetric(spec) && JUDGED_BY_MEANS,
  ({ spec, raw }) =>
    isComparedWithStoredScore(spec) &&
    getGivenValue(raw, 'evidence') !== undefined &&
    'evidence is not used: measurement.stability selects the comparison with a stored score',
  ({ spec: { measurement } }) =>
    measurement.stability?.mode === 'ladder' &&
    measurement.stability.comparison.method === 'absolute' &&
    'measurement.stability: a ladder with comparison.method absolute compares metric units; relative or paired is usual',
  ({ rules }) => rules === 'ce' && READ_AS_CE,
  ({ raw }) =>
    getGivenValue(raw, 'metric.primary.baseline') !== undefined &&
    'metric.primary.baseline is ignored: winnow measures the baseline itself',
  ({ spec: { measurement } }) =>
    measurement.per_case === true &&
    measurement.stability !== null &&
    'measurement.per_case is accepted and changes nothing: measurement.stability compares aggregates of whole executions',
  ({ spec: { measurement, metric } }) =>
    measurement.suite !== null &&
    metric.max_task_regression !== undefined &&
    !measurement.suite.advisory &&
    measurement.suite.seeds < TASK_PAIRS &&
    `metric.max_task_regression: with ${measurement.suite.seeds} ${measurement.suite.seeds === 1 ? 'pair' : 'pairs'} of each task in a job, it takes ${Math.ceil(TASK_PAIRS / measurement.suite.seeds)} jobs or more to show that no task is worse`,
  ({ raw }) =>
    getGivenValue(raw, 'stopping.max_wall_hours') !== undefined &&
    'stopping.max_wall_hours: winnow counts wall-clock hours only, so the smaller of it and a given max_hours stops the campaign',
  ({ spec }) =>
    spec.constraints.length > 0 &&
    'proposers get constraints as advice, and winnow does not check them; it checks metric.constraints',
  // Keys that the file sets and that this spec does not use: never dropped silently.
  ({ spec: { metric } }) =>
    metric.objectives.some(one => one.name === metric.primary.name && one.role === 'secondary') &&
    `metric.objectives: the secondary entry named like the primary (${metric.primary.name}) is ignored`,
  ({ spec: { metric } }) =>
    metric.objectives.some(one => one.name === metric.primary.name && one.role === 'guardrail') &&
    `metric.objectives: ${metric.primary.name} is the primary, which is always required`,
  ({ spec: { metric } }) =>
    metric.judge !== null &&
    metric.primary.type !== 'judge' &&
    `metric.judge is ignored: metric.primary.type is ${metric.primary.type}`,
  ({ spec: { metric } }) =>
    metric.loss !== null &&
    metric.primary.type !== 'loss' &&
    `metric.loss is ignored: metric.primary.type is ${metric.primary.type}`,
  ({ spec: { measurement }, raw }) =>
    measurement.stability === null &&
    getGivenValue(raw, 'measurement.baseline') !== undefined &&
    'measurement.baseline is not used: only measurement.stability compares with a stored score',
  ({ spec: { measurement } }) =>
    (measurement.stability?.ladder ?? null) !== null &&
    measurement.stability?.mode !== 'ladder' &&
    `measurement.stability.ladder is not used: mode is ${measurement.stability?.mode}`,
  ({ spec: { measurement } }) =>
    measurement.holdout?.source === null &&
    'measurement.holdout.source is not set, so proposers can read the data of the holdout',
  ({ spec }) =>
    spec.parallel.exclusive_resources.length > 0 &&
    `parallel.exclusive_resources (${spec.parallel.exclusive_resources.join(', ')}): the campaign is serial`,
  ({ spec: { execution: run }, rules }) =>
    run.max_concurrent > MANY_WORK_TREES &&
    rules !== 'ce' &&
    run.backend === 'worktree' &&
    `execution.max_concurrent ${run.max_concurrent}: at most ${MANY_WORK_TREES} is advised for work trees`,
  ({ spec: { parallel } }) =>
    parallel.port_env_var === null &&
    (parallel.port_strategy === 'parameterized' || parallel.port_base !== null) &&
    'parallel: winnow assigns no port without port_env_var',
  ({ spec: { parallel } }) =>
    parallel.port_strategy !== 'parameterized' &&
    parallel.port_env_var !== null &&
    'parallel: winnow assigns no port without port_strategy: parameterized',
]

export function listNotes(context: RuleContext): string[] {
  const notes = NOTES.flatMap(note => note(context) || [])
  return [...notes, ...noteCeLeftovers(context.spec, context.rules)]
}
