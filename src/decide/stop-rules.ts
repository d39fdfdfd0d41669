import { getAggregation, type Snapshot } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { isJudgedMetric, isMetered } from '../spec/spec-facts.ts'
import { computeMedianBound } from './evidence/interval.ts'
import { computeSignedDelta, listObjectives, lookUpMetric, type Objective } from './metrics.ts'
import { formatCount, formatNumber } from './wording.ts'

export type StopProgress = {
  /** Experiments that ended; refused and deferred ones are not counted. */
  ended: number
  /** Refused or withdrawn: they end without a verdict and count towards no limit. */
  uncounted: number
  /** Counted experiments that ended since the incumbent last changed; those not proven are not counted. */
  endedSinceIncumbent: number
  /** Experiments that crashed or ran out of time: a budget of the whole campaign. */
  failures: number
  hours: number
  runnerMinutes: number
  setAsideMinutes: number
  costUsd: number
  targetReached: boolean
  /** No idea is queued, open or proposed. */
  backlogEmpty: boolean
}

export type StopCode =
  | 'target_reached'
  | 'max_iterations'
  | 'max_hours'
  | 'plateau'
  | 'max_runner_minutes'
  | 'max_total_cost_usd'
  | 'max_judge_cost_usd'
  | 'max_failures'
  | 'empty_backlog'
  | 'level_used_up'
  | 'epochs'

export type StopRuleHit = { code: StopCode; reason: string }

type SpentLimit = {
  code: StopCode
  spent: number
  limit: number | null
  text: (limit: number, spent: number) => string
}

// Limits

/** A round is never interrupted, so more experiments may have ended than the limit says. */
const COUNTED_LIMITS: ReadonlySet<StopCode> = new Set(['max_iterations', 'max_failures', 'plateau'])

/** Null while the campaign goes on. */
export function findStopReason(
  spec: Pick<Spec, 'stopping' | 'propose'>,
  progress: StopProgress,
): StopRuleHit | null {
  if (spec.stopping.target_reached && progress.targetReached) {
    return { code: 'target_reached', reason: 'every declared target is reached' }
  }
  for (const { code, spent, limit, text } of listLimits(spec, progress)) {
    // Spending that is not a number counts as spent: a broken meter must not run forever (invariant 5).
    if (limit === null || spent < limit) continue
    const key = COUNTED_LIMITS.has(code) && spent > limit ? `: ${limit}` : ''
    return { code, reason: `${text(limit, spent)} (stopping.${code}${key})` }
  }
  const open = spec.propose.some(proposer => proposer.use === 'external')
  if (open || !progress.backlogEmpty) return null
  return { code: 'empty_backlog', reason: 'no idea is left, and no proposer or person can add one' }
}

function listLimits({ stopping }: Pick<Spec, 'stopping'>, progress: StopProgress): SpentLimit[] {
  const uncounted =
    progress.uncounted === 0 ? '' : `, not counting ${progress.uncounted} refused or withdrawn`
  const reserved = formatNumber(Math.ceil(progress.setAsideMinutes))
  const setAside =
    progress.setAsideMinutes === 0 ? '' : `, ${reserved} of them reserved for measuring the total`
  return [
    {
      code: 'max_iterations',
      spent: progress.ended,
      limit: stopping.max_iterations,
      text: (_, spent) => `${formatCount(spent, 'experiment')} ended${uncounted}`,
    },
    {
      code: 'max_hours',
      spent: progress.hours,
      limit: stopping.max_hours,
      text: limit => `${formatCount(limit, 'hour')} ${limit === 1 ? 'has' : 'have'} passed`,
    },
    {
      code: 'max_runner_minutes',
      spent: progress.runnerMinutes + progress.setAsideMinutes,
      limit: stopping.max_runner_minutes,
      text: limit => `${formatCount(limit, 'runner minute')} used${setAside}`,
    },
    {
      code: 'max_total_cost_usd',
      spent: progress.costUsd,
      limit: stopping.max_total_cost_usd,
      text: formatModelSpending,
    },
    {
      code: 'max_failures',
      spent: progress.failures,
      limit: stopping.max_failures,
      text: (_, spent) => `${formatCount(spent, 'experiment')} crashed or ran out of time`,
    },
    {
      code: 'plateau',
      spent: progress.endedSinceIncumbent,
      limit: stopping.plateau,
      text: (_, spent) => `${formatCount(spent, 'experiment')} without a new incumbent`,
    },
  ]
}

/** The money for models is spent without which nothing can be compared, so a round cannot go on either. */
export function findMoneyStop(
  spec: Pick<Spec, 'metric' | 'measurement' | 'stopping'>,
  { usd, usd_for }: SpentMoney,
): StopRuleHit | null {
  const { metric, stopping } = spec
  if (!isJudgedMetric(spec) && !isMetered(spec)) return null
  const total = stopping.max_total_cost_usd
  // NaN is not less than a cap either, and so counts as spent.
  if (total !== null && !(usd < total))
    return {
      code: 'max_total_cost_usd',
      reason: `${formatModelSpending(total)} (stopping.max_total_cost_usd)`,
    }
  const cap = isJudgedMetric(spec) ? (metric.judge?.max_total_cost_usd ?? null) : null
  if (cap === null || (usd_for['judge'] ?? 0) < cap) return null
  const reason = `${formatNumber(cap)} USD spent on judges (metric.judge.max_total_cost_usd)`
  return { code: 'max_judge_cost_usd', reason }
}

interface SpentMoney {
  usd: number
  usd_for: Readonly<Record<string, number>>
}

function formatModelSpending(limit: number): string {
  return `${formatNumber(limit)} USD spent on models`
}

// Targets

/** At least one required objective declares a target, and all that do meet it. */
export function isTargetReached(
  objectives: readonly Objective[],
  valueOf: (objective: Objective) => number | undefined,
): boolean {
  const met = objectives.flatMap(objective => {
    const { role, target, direction } = objective
    if (role !== 'required' || target === null) return []
    const value = valueOf(objective)
    return [value !== undefined && computeSignedDelta(target, value, direction) >= 0]
  })
  return met.length > 0 && !met.includes(false)
}

/** Whether one side's stored numbers (the incumbent's, say) already meet every declared target. */
export function areTargetsMet(spec: Pick<Spec, 'metric' | 'measurement'>, snapshot: Snapshot): boolean {
  const aggregation = getAggregation(spec)
  return isTargetReached(
    listObjectives(spec.metric),
    ({ name, judged }) => lookUpMetric(snapshot, name, { judged, aggregation })?.value,
  )
}

/** Where numbers vary, a target is met when even the cautious bound of the median meets it (spec.md). */
export function areTargetsShown(spec: Pick<Spec, 'metric'>, snapshot: Snapshot): boolean {
  return isTargetReached(listObjectives(spec.metric), ({ name, judged, direction }) => {
    const samples = lookUpMetric(snapshot, name, { judged, aggregation: 'median' })?.samples ?? []
    return computeMedianBound(samples, direction) ?? undefined
  })
}
