import { computeStateEffect, estimateHodgesLehmann } from '../evidence/interval.ts'
import { estimateMeanEffect, type MeanEffect } from '../evidence/slow-runs.ts'
import { listObjectives } from '../metrics.ts'
import { formatCount } from '../wording.ts'
import { describeEffect, type MeasuredMetric } from './effect-text.ts'
import { collectMetricPairs, computeDifferences, type PairedCase, type PairsEvaluation } from './evaluate.ts'
import { listWholePairs } from './keep-check.ts'

type Known = Pick<PairsEvaluation, 'primary' | 'check'>

/**
 * "mean 4.5 % slower, in 1 of 20 pairs at least 2.9x slower". Null where the mean does not differ from the median,
 * which the verdict states.
 */
export function describeMean(paired: PairedCase, { primary, check }: Known): string | null {
  const estimate = estimateMean(paired)
  if (estimate === null) return null
  const isHeld = check?.is === 'slower' || check?.is === 'unshown'
  if (!isHeld && !isMeanDifferent(paired, primary, estimate)) return null
  const { metric, mean } = estimate
  const [average, worst] = [mean.mean, mean.worst].map(effect => formatPlainEffect(effect, metric))
  return `mean ${average}, in 1 of 20 pairs ${worst} or ${mean.worst < 0 ? 'more' : 'less'}`
}

interface MeanEstimate {
  metric: MeasuredMetric
  mean: MeanEffect
}

function estimateMean({ spec, rule, jobs }: PairedCase): MeanEstimate | null {
  const [{ name, direction, judged }] = listObjectives(spec.metric)
  if (judged) return null
  const metric = { name, direction, scale: rule.scale }
  const mean = estimateMeanEffect(
    jobs.map(job => listWholePairs({ pairs: collectMetricPairs([job], name) })),
    metric,
  )
  return mean === null ? null : { metric, mean }
}

/** Outside the interval of the median, and by an amount that counts. */
function isMeanDifferent(
  { rule }: PairedCase,
  primary: PairsEvaluation['primary'],
  { mean: { mean } }: MeanEstimate,
): boolean {
  const { effect, interval } = computeStateEffect(primary)
  if (effect === null || interval === null) return false
  return Math.abs(mean - effect) >= rule.min_effect / 2 && (mean < interval[0] || mean > interval[1])
}

function formatPlainEffect(effect: number, metric: MeasuredMetric): string {
  const { size, unit, word } = describeEffect(effect, null, metric)
  return `${size}${unit} ${word}`
}

/** Why a person has to decide about a change whose gain is shown. Its name stays the same for every report. */
export function describeSlowRuns(
  paired: PairedCase,
  evaluation: Known,
): { name: string; text: string } | null {
  const { check, primary } = evaluation
  if (check?.is !== 'slower' && check?.is !== 'unshown') return null
  const [{ name, direction }] = listObjectives(paired.spec.metric)
  const metric = { name, direction, scale: paired.rule.scale }
  const [better, worse] = [1, -1].map(effect => describeEffect(effect, null, metric).word)
  const { effect } = computeStateEffect(primary)
  const median = effect === null ? '' : `median ${formatPlainEffect(effect, metric)}, `
  const runs = check.runs === null ? '' : ` (${formatCount(check.runs.done, 'run')} of each side)`
  const few = check.is === 'unshown' ? '; these runs do not exclude that it loses on average' : ''
  return {
    name: `typically ${better}, sometimes ${worse} (merge.sometimes_slower)`,
    text: `${name}: ${median}${describeMean(paired, evaluation) ?? ''}${runs}${few}`,
  }
}

/** What is missing for a keep once the gain is shown; null where nothing is. */
export function describeCheck(paired: PairedCase, { check }: Known): string | null {
  if (check === null) return null
  switch (check.is) {
    case 'measure':
    case 'new-job':
      return check.runs !== null && check.runs.done < check.runs.needed
        ? `measured on to see whether some runs are much slower (${check.runs.done} of ${formatCount(check.runs.needed, 'run')})`
        : 'measured on to see whether other jobs agree'
    case 'luck':
      return `but its jobs do not agree on a gain (${listJobEffects(paired)})`
    case 'slower':
      return 'but some of its runs are much slower'
    case 'unshown':
      return 'but its runs do not show that it gains on average'
    case 'passed':
      return null
    default:
      return check.is satisfies never
  }
}

function listJobEffects({ spec, rule, jobs }: PairedCase): string {
  const [{ name, direction }] = listObjectives(spec.metric)
  const metric = { name, direction, scale: rule.scale }
  return jobs
    .flatMap(job => {
      const effect = estimateHodgesLehmann(computeDifferences(collectMetricPairs([job], name), metric))
      return Number.isFinite(effect) ? [formatPlainEffect(effect, metric)] : []
    })
    .join(', ')
}
