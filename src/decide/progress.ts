import { type Campaign, type EffectMeasurement, findLanding, type MeasuredMerge } from '../model/campaign.ts'
import { isOwnGain } from '../model/fold/counters.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import { aggregateSnapshot, getNumber } from '../model/report.ts'
import { joinFirst } from '../model/text.ts'
import type { Spec } from '../spec/schema.ts'
import { listObjectives, type ObjectiveDirection } from './metrics.ts'
import { formatEffect } from './paired/effect-text.ts'
import { formatCount, formatMetricChange, formatNumber, formatPercent } from './wording.ts'

/** Composed of measured steps, so that it contains no gain or loss of the default branch (decision 037). */
export type CampaignProgress = {
  metric: string
  direction: ObjectiveDirection
} & (NoProgress | ProgressAsDecided | ProgressByNumbers | ProgressByPairs)

interface NoProgress {
  is: 'nothing kept'
  /** The metric where the campaign began; null if that is not measured either. */
  value: number | null
}

/**
 * Before any pairs confirm it: the sum of the effects that the changes were kept for, which is too optimistic
 * to be a result.
 */
interface ProgressAsDecided {
  is: 'not measured'
  scale: 'log' | 'linear'
  /** null where one of them has no number of this metric. */
  decided: number | null
  missing: ExperimentId[]
}

/** For a metric that one order settles: base and candidate of every step. */
interface ProgressByNumbers extends ProgressGain {
  is: 'numbers'
  /** Steps that begin where the one before ended are one stretch. */
  stretches: [Stretch, ...Stretch[]]
}

type Stretch = { from: number; to: number }

/** For a noisy metric: pairs that selected no idea. */
interface ProgressByPairs extends ProgressGain {
  is: 'tested' | 'composed'
  interval: [number, number] | null
  pairs: number
  parts: number
  /** The commit that the progression test compared with. */
  against: Oid | null
}

interface ProgressGain {
  scale: 'log' | 'linear'
  /** Positive is better; under log a difference of logarithms. */
  effect: number
  /** Kept changes that no measured part covers. */
  missing: ExperimentId[]
}

type ProgressState = Pick<
  Campaign,
  'origin' | 'steps' | 'landings' | 'experiments' | 'progression' | 'calibration' | 'set_by'
>

// Computing progress

export function computeProgress(
  campaign: ProgressState,
  spec: Pick<Spec, 'metric' | 'measurement' | 'evidence'>,
): CampaignProgress {
  const [{ name: metric, direction }] = listObjectives(spec.metric)
  const about = { metric, direction }
  const landings = listUnrevertedLandings(campaign)
  if (landings.length === 0) {
    const value = getNumber(aggregateSnapshot(campaign.origin?.snapshot ?? null), metric)
    return { ...about, is: 'nothing kept', value }
  }
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  const found = isProgressByPairs(campaign, spec)
    ? computeProgressByPairs(campaign, metric)
    : computeProgressByNumbers(campaign, about, scale)
  return { ...about, ...(found ?? computeDecidedProgress(campaign, scale)) }
}

/** A measured revert is a landing too, and no gain. */
function listUnrevertedLandings({ landings, experiments }: ProgressState): ProgressState['landings'] {
  return landings.filter(
    ({ experiment, reverted }) => reverted === null && experiments[experiment]?.purpose !== 'revert',
  )
}

/**
 * The progression test, and the effects of changes kept since. Without a test, the effects of all kept
 * changes, each by the pairs that were run after it was decided.
 */
function computeProgressByPairs(campaign: ProgressState, metric: string): ProgressByPairs | null {
  const landings = listUnrevertedLandings(campaign)
  const test = findCurrentTest(campaign, metric)
  const covered = new Set(test?.covers)
  const rest = landings.filter(({ experiment }) => !covered.has(experiment))
  const scale = test?.scale ?? campaign.calibration?.scale ?? rest[0]?.effect?.scale
  const usable = (effect: EffectMeasurement | null): effect is EffectMeasurement =>
    effect?.metric === metric && effect.scale === scale
  const parts = [test, ...rest.map(({ effect }) => effect)].filter(usable)
  const missing = rest.flatMap(({ experiment, effect }) => (usable(effect) ? [] : [experiment]))
  const [first] = parts
  if (first === undefined) return null
  const alone = parts.length === 1 && missing.length === 0 && test !== null
  return {
    is: alone ? 'tested' : 'composed',
    ...composeEffects([first, ...parts.slice(1)]),
    parts: parts.length,
    against: alone ? test.from.commit : null,
    missing,
  }
}

/** Null if the test is outdated: a change that it covers was reverted, or another metric is the primary. */
function findCurrentTest(campaign: ProgressState, metric: string): ProgressState['progression'] {
  const { progression } = campaign
  if (progression === null || progression.metric !== metric || progression.covers.length === 0) return null
  return progression.covers.every(id => findLanding(campaign, id)) ? progression : null
}

/**
 * Effects add up under both scales. The ends of their intervals are added as well: where the errors are
 * independent that is wider than it has to be, and it needs no independence (decision 037).
 */
function composeEffects(
  parts: readonly [EffectMeasurement, ...EffectMeasurement[]],
): Pick<ProgressByPairs, 'effect' | 'interval' | 'pairs' | 'scale'> {
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const intervals = parts.flatMap(({ interval }) => (interval === null ? [] : [interval]))
  const whole = intervals.length === parts.length
  return {
    scale: parts[0].scale,
    effect: sum(parts.map(({ effect }) => effect)),
    interval: whole ? [sum(intervals.map(([low]) => low)), sum(intervals.map(([, high]) => high))] : null,
    pairs: sum(parts.map(({ pairs }) => pairs)),
  }
}

function computeProgressByNumbers(
  { steps }: ProgressState,
  { metric, direction }: { metric: string; direction: ObjectiveDirection },
  scale: ProgressGain['scale'],
): ProgressByNumbers | null {
  const measured = steps.map(step => getStretch(step, metric))
  const missing = steps.flatMap(({ experiment }, at) => (measured[at] === null ? [experiment] : []))
  const [first, ...others] = measured.filter(stretch => stretch !== null)
  if (first === undefined) return null
  const stretches: ProgressByNumbers['stretches'] = [first]
  for (const { from, to } of others) {
    const last = stretches.at(-1) ?? first
    if (last.to === from) stretches[stretches.length - 1] = { from: last.from, to }
    else stretches.push({ from, to })
  }
  const shares = scale === 'log' && stretches.every(({ from, to }) => from > 0 && to > 0)
  const change = stretches.reduce(
    (sum, { from, to }) => sum + (shares ? Math.log(to) - Math.log(from) : to - from),
    0,
  )
  const effect = direction === 'minimize' ? 0 - change : change
  return { is: 'numbers', scale: shares ? 'log' : 'linear', effect, stretches, missing }
}

/** Null where one of the two is missing, or where pairs decided: their medians are no measured difference. */
function getStretch({ by, from, to }: MeasuredMerge, metric: string): Stretch | null {
  const [before, after] = [getNumber(from.metrics, metric), getNumber(to.metrics, metric)]
  return by === 'pairs' || before === null || after === null ? null : { from: before, to: after }
}

function computeDecidedProgress(campaign: ProgressState, scale: ProgressGain['scale']): ProgressAsDecided {
  const landings = listUnrevertedLandings(campaign)
  const missing = landings.map(({ experiment }) => experiment)
  const deltas = landings.flatMap(({ experiment, spec_seq }) => {
    const { alpha_share = null, primary_delta: delta = null } = campaign.experiments[experiment] ?? {}
    // Only pairs show a gain here, and under an earlier spec it may be of another metric.
    const isOfPairs = alpha_share !== null && spec_seq === campaign.set_by.spec
    return delta === null || !isOfPairs ? [] : [delta]
  })
  const decided = deltas.length < missing.length ? null : deltas.reduce((sum, delta) => sum + delta, 0)
  return { is: 'not measured', scale, decided, missing }
}

/** Whether a difference of two runs is noise: then only pairs show a gain. */
export function isProgressByPairs(
  { calibration, steps }: Pick<Campaign, 'calibration' | 'steps'>,
  { measurement }: Pick<Spec, 'measurement'>,
): boolean {
  if (measurement.stability !== null || measurement.mode === 'once') return false
  return calibration === null ? steps.some(({ by }) => by === 'pairs') : !calibration.deterministic
}

/** Whether a change lies between the default branch and the incumbent that a progression test would show. */
export function hasUntestedGain(
  campaign: Pick<Campaign, 'landings' | 'reference' | 'incumbent' | 'progression'>,
): boolean {
  const { landings, reference, incumbent, progression } = campaign
  if (!landings.some(isOwnGain) || reference.tree === incumbent.tree) return false
  if (progression?.from.commit !== reference.commit || progression.to.commit !== incumbent.commit) return true
  return progression.jobs < EFFECT_JOBS
}

// Progress in words

/** The progress of a campaign in one line, for every view: "bytes 900 -> 400 (-55.6 %)". */
export function formatProgress(progress: CampaignProgress): string {
  switch (progress.is) {
    case 'nothing kept':
      return progress.value === null
        ? `${progress.metric} is not measured yet`
        : `${progress.metric} ${formatNumber(progress.value)}, no gain yet`
    case 'not measured':
      return formatDecidedProgress(progress)
    case 'numbers':
      return `${formatNumbersProgress(progress)}${formatMissing(progress)}`
    case 'tested':
    case 'composed':
      return `${formatPairsProgress(progress)}${formatMissing(progress)}`
    default:
      return progress satisfies never
  }
}

/** Shows the estimate if there is one: fresh pairs follow with the next round, or at the end. */
function formatDecidedProgress(progress: CampaignProgress & ProgressAsDecided): string {
  const { metric: name, direction, scale, decided, missing } = progress
  const kept = `${formatCount(missing.length, 'change')} kept`
  if (decided === null) return `${kept}, not measured again yet`
  const text = formatEffect(decided, null, { name, direction, scale })
  return `${text} when ${missing.length === 1 ? 'it was' : 'they were'} kept, not measured again yet`
}

const STRETCHES_SHOWN = 4

function formatNumbersProgress(progress: CampaignProgress & ProgressByNumbers): string {
  const { metric, stretches } = progress
  const [first] = stretches
  if (stretches.length === 1) return formatMetricChange(metric, first.from, first.to)
  const text = stretches.map(({ from, to }) => `${formatNumber(from)} -> ${formatNumber(to)}`)
  const few = text.length <= STRETCHES_SHOWN ? text : [...text.slice(0, 2), '…', ...text.slice(-1)]
  return `${metric} ${few.join(', ')} (${formatGain(progress)} in all)`
}

const MISSING_NAMED = 3

function formatMissing({ missing }: { missing: readonly string[] }): string {
  return missing.length === 0 ? '' : `, without ${joinFirst(missing, MISSING_NAMED)}: not measured yet`
}

function formatPairsProgress(progress: CampaignProgress & ProgressByPairs): string {
  const { metric: name, direction, scale, effect, interval, pairs, parts, against } = progress
  const text = formatEffect(effect, interval, { name, direction, scale })
  const than = against === null ? '' : ` than ${against.slice(0, 12)}`
  const of = parts > 1 ? `, composed of ${parts} measurements` : ''
  return `${text}${than}${of}, ${formatCount(pairs, 'pair')}`
}

/** The shortest form: "-55.6 %". */
export function formatGain(progress: CampaignProgress): string {
  if (progress.is === 'nothing kept') return progress.value === null ? 'not measured' : 'no gain yet'
  if (progress.is === 'not measured') {
    const { decided: effect } = progress
    return effect === null ? 'not confirmed' : `about ${formatChange(computeChange({ ...progress, effect }))}`
  }
  return formatChange(computeChange(progress))
}

function formatChange(change: ReturnType<typeof computeChange>): string {
  if ('share' in change) return formatPercent(change.share)
  return `${change.difference > 0 ? '+' : ''}${formatNumber(change.difference)}`
}

/** The change of the metric itself: as a share of its old value, or in its own unit. */
export function computeChange(
  progress: CampaignProgress & { effect: number; scale: ProgressGain['scale'] },
): { share: number } | { difference: number } {
  if (progress.is === 'numbers' && progress.stretches.length === 1) {
    const [{ from, to }] = progress.stretches
    return from === 0 ? { difference: to } : { share: (to - from) / Math.abs(from) }
  }
  const change = progress.direction === 'minimize' ? 0 - progress.effect : progress.effect
  return progress.scale === 'log' ? { share: Math.expm1(change) } : { difference: change }
}
