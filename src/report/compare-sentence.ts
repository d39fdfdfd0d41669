import { computeStateEffect } from '../decide/evidence/reported-effect.ts'
import { listObjectives } from '../decide/objectives.ts'
import { computeUpperBound } from '../decide/evidence/confidence-interval.ts'
import {
  describeEffect,
  type MeasuredMetric,
  toShare,
  formatUpperBound,
} from '../decide/paired/effect-text.ts'
import type { PairsEvaluation } from '../decide/paired/standing.ts'
import { formatMetricChange, formatNumber, formatCount } from '../decide/wording.ts'
import { getAggregation } from '../model/aggregate.ts'
import { aggregateMetrics } from '../model/report.ts'
import type { CompareVerdict, ComparisonResult } from './compare-view.ts'
import { formatDuration } from './duration.ts'
import { toSentenceCase } from './sentence.ts'

/** What the second side is called where it is no commit. */
export const WORK_TREE = 'your work tree'

/** The one sentence that answers: how much, and where the truth lies. What it took is said once, by the line of its cost. */
export function renderComparisonSentence(
  compared: ComparisonResult,
  word: CompareVerdict,
  standing: PairsEvaluation | null,
): string {
  const said = composeComparisonSentence(compared, word, standing)
  // A branch keeps its name; what is not one begins as a sentence does.
  return said.startsWith(compared.head.name) && compared.head.name !== WORK_TREE ? said : toSentenceCase(said)
}

function composeComparisonSentence(
  compared: ComparisonResult,
  word: CompareVerdict,
  standing: PairsEvaluation | null,
): string {
  const { base, head, end, assessment } = compared
  if (end === 'same')
    return `${head.name} and ${base.name} have the same files: there is nothing to compare, and nothing was run.`
  if (word === 'broken' || word === 'refused')
    return `${head.name} is ${word}: ${(assessment?.reason ?? '').split('\n')[0]}`
  return `${standing === null ? describeSingleRunResult(compared, word) : describePairedResult(compared, word, standing)}.`
}

function describePairedResult(
  compared: ComparisonResult,
  word: CompareVerdict,
  standing: PairsEvaluation,
): string {
  const sure = describeComparedEffect(compared, standing, '')
  const probable = describeComparedEffect(compared, standing, 'probably ')
  switch (word) {
    case 'better':
    case 'worse':
      return sure
    case 'no gain':
      return `no gain of ${formatMinEffect(compared)} or more: ${probable}`
    case 'not proven':
    case 'refused':
    case 'broken':
      return `${describeUnproven(compared)}: ${probable}${compared.end === 'decided' ? describeRuledOutDifference(compared, standing) : ' so far'}`
    default:
      return word satisfies never
  }
}

/** Says why measuring ended where both are practically equal. */
function describeRuledOutDifference(
  { paired, spec }: ComparisonResult,
  { primary }: PairsEvaluation,
): string {
  if (primary.given_up?.reason !== 'large-change-ruled-out') return ''
  return `; a difference of ${formatMinEffect({ paired, spec }, 2)} or more is ruled out either way`
}

function describeUnproven({ end, minutes, paired }: ComparisonResult): string {
  switch (end) {
    case 'decided':
      return `not proven in ${formatCount(paired?.jobs.length ?? 0, 'job')}`
    case 'time':
      return `not proven within ${formatDuration(60 * (minutes ?? 0))} of measuring`
    case 'interrupted':
    case 'declined':
    case 'same':
      return 'interrupted, and not proven'
    default:
      return end satisfies never
  }
}

/** "my-branch is 4.1 % faster than main (between 2.9 and 5.2 %)" */
function describeComparedEffect(
  { base, head, spec, paired }: ComparisonResult,
  standing: PairsEvaluation,
  sure: string,
): string {
  const [{ name, direction }] = listObjectives(spec.metric)
  const { effect, interval } = computeStateEffect(standing.primary)
  if (effect === null) return `${head.name} could not be compared with ${base.name}`
  const measured: MeasuredMetric = { name, direction, scale: paired?.rule.scale ?? 'log' }
  const { size, word, range, unit } = describeEffect(effect, interval, measured)
  const upper = standing.status === 'drop' ? computeUpperBound(standing.primary.differences) : null
  const open = upper === null ? 'too few pairs to say between what' : formatUpperBound(upper, measured)
  const between = range === null ? ` (${open})` : ` (between ${range[0]} and ${range[1]}${unit})`
  return `${head.name} ${formatPredicate(name, `${sure}${size}${unit} ${word}`)} than ${base.name}${between}`
}

function formatPredicate(name: string, much: string): string {
  if (name === 'wall_seconds') return `is ${much}`
  if (name === 'cpu_seconds' || name === 'max_rss_mb') return `needs ${much}`
  return `has ${much} ${name}`
}

function formatMinEffect({ paired, spec }: Pick<ComparisonResult, 'paired' | 'spec'>, times = 1): string {
  const least = times * (paired?.rule.min_effect ?? spec.evidence.min_effect ?? 0)
  const [{ name, direction }] = listObjectives(spec.metric)
  if (paired?.rule.scale === 'linear') return `${formatNumber(least)} ${name}`
  return `${formatNumber(Number((Math.abs(toShare(least, direction)) * 100).toPrecision(2)))} %`
}

/** What repeats exactly needs no interval: both numbers say all. */
function describeSingleRunResult(compared: ComparisonResult, word: CompareVerdict): string {
  const { base, head, spec, label, report, end } = compared
  if (report === null || end !== 'decided')
    return `${end === 'time' ? 'the time was up' : 'interrupted'} before ${head.name} and ${base.name} were compared: nothing is known yet`
  const [{ name }] = listObjectives(spec.metric)
  const aggregation = getAggregation(spec)
  const [before, after] = (['base', label] as const).map(
    side => aggregateMetrics(report, side, aggregation)[name],
  )
  const change =
    typeof before === 'number' && typeof after === 'number' ? formatMetricChange(name, before, after) : name
  const took = 'it repeats exactly'
  if (before === after) return `${head.name} and ${base.name} come out the same: ${change}; ${took}`
  if (word === 'no gain') return `no gain worth having: ${head.name} against ${base.name}, ${change}; ${took}`
  return `${head.name} is ${word} than ${base.name}: ${change}; ${took}`
}
