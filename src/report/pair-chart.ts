import { selectReportedJobs } from '../model/pairs.ts'
import { computeReportedEffect } from '../decide/evidence/reported-effect.ts'
import { listObjectives, getScoreTerms } from '../decide/objectives.ts'
import { formatEffect, toShare } from '../decide/paired/effect-text.ts'
import { renderEvidenceBar } from '../decide/paired/evidence-bar.ts'
import { formatEvidence } from '../decide/paired/evidence-line.ts'
import { traceEvidence, type PathJob, type PathPair } from '../decide/paired/evidence-path.ts'
import { computeDifferences, collectMetricPairs } from '../decide/paired/metric-pairs.ts'
import { formatNumber, formatCount } from '../decide/wording.ts'
import { toShortId } from './event-line.ts'
import type { PairStory } from './pair-story.ts'
import { formatTable } from './table.ts'

const CHART = 20

const AS = {
  idea: 'as an idea',
  confirmed: 'as confirmed on an earlier base',
  combination: 'as a combination',
  simplify: 'as a simplification',
} as const satisfies Record<PairStory['terms']['as'], string>

interface PairMetric {
  name: string
  direction: 'minimize' | 'maximize'
  scale: 'log' | 'linear'
}

/** The pairs that a verdict rests on, job by job, with the evidence growing towards what it has to reach. */
export function renderPairChart(story: PairStory): string[] {
  const jobs = traceEvidence(story)
  return [
    ...renderPairHeadline(story),
    ...jobs.flatMap((job, at) => [
      '',
      renderJobTitle(story, job, at),
      ...(job.unreported ? [] : renderPairRows(story, job)),
    ]),
    '',
    ...renderPairSummary(story),
  ]
}

function toPairMetric({ spec, rule }: PairStory): PairMetric {
  const [{ name, direction }] = listObjectives(spec.metric)
  return { name, direction, scale: rule.scale }
}

function renderPairHeadline(story: PairStory): string[] {
  const { rule, terms, base, tree } = story
  const measured = toPairMetric(story)
  const better = measured.direction === 'minimize' ? 'lower' : 'higher'
  const screened = terms.as === 'idea' && rule.fresh_runners > 0
  const screen = screened ? `screened at ${formatNumber(rule.screen)}, ` : ''
  return [
    `Pairs of ${measured.name}: ${better} is better, ${measured.scale} scale`,
    `  ${AS[terms.as]}: ${screen}kept at ${formatEvidence(1 / terms.level)} (level ${formatNumber(Number(terms.level.toPrecision(3)))})`,
    `  worth having: ${formatPairGain(rule.min_effect, measured)}; counts as nothing: ${formatPairGain(rule.null_effect, measured)}`,
    `  base tree ${toShortId(base.tree)}, candidate tree ${toShortId(tree)}`,
  ]
}

/** A size without its sign, in the units people read. */
function formatPairGain(difference: number, { direction, scale }: PairMetric): string {
  if (scale === 'linear') return formatNumber(difference)
  return `${Math.abs(toShare(difference, direction) * 100).toFixed(1)} %`
}

function renderJobTitle({ rule }: PairStory, job: PathJob, at: number): string {
  const { order, runner, fresh, screened, unreported } = job
  if (unreported)
    return `job ${at + 1}: its run was lost and left nothing; evidence for keeping starts again; order ${toShortId(order)}`
  const machine = rule.single_machine ? 'new build on this machine' : `runner ${runner.slice(0, 8)}`
  const is = [...(fresh ? ['fresh'] : []), ...(screened ? ['passed the screen'] : [])]
  return `job ${at + 1}: ${[machine, ...is].join(', ')}; order ${toShortId(order)}`
}

function renderPairRows(story: PairStory, { pairs }: PathJob): string[] {
  const measured = toPairMetric(story)
  const keep = 1 / story.terms.level
  const end = formatEvidence(keep)
  const axis = ` 1${end.padStart(CHART - 1)}`
  const values = pairs.flatMap(({ base, candidate, lost = false }) =>
    [base, candidate].map(value => formatPairValue(value, lost).length),
  )
  const width = Math.max('candidate'.length, ...values)
  const sides = ['base', 'candidate'].map(side => side.padStart(width))
  const head = ['  pair', ...sides, '   gain', 'first', 'evidence', axis]
  return formatTable([head, ...pairs.map((pair, at) => renderPairRow(pair, at, { measured, keep, width }))])
}

function renderPairRow(
  pair: PathPair,
  at: number,
  { measured, keep, width }: { measured: PairMetric; keep: number; width: number },
): string[] {
  const { base, candidate, difference, first, evidence, lost = false } = pair
  return [
    `  ${String(at + 1).padStart(4)}`,
    formatPairValue(base, lost).padStart(width),
    formatPairValue(candidate, lost).padStart(width),
    (difference === null ? 'none' : formatSignedGain(difference, measured)).padStart(7),
    first === 'base' ? 'base' : 'cand.',
    formatEvidence(evidence).padStart(8),
    `▕${renderEvidenceBar(evidence, keep, CHART)}▏`,
  ]
}

function formatPairValue(value: number | null, lost: boolean): string {
  if (lost) return 'lost'
  return value === null ? 'failed' : formatNumber(value)
}

function formatSignedGain(difference: number, measured: PairMetric): string {
  return `${difference < 0 ? '-' : '+'}${formatPairGain(difference, measured).replace('-', '')}`
}

/** Estimate and interval of all pairs, and what they took. */
function renderPairSummary(story: PairStory): string[] {
  const { minutes } = story
  const jobs = selectReportedJobs(story.jobs)
  const measured = toPairMetric(story)
  const pairs = collectMetricPairs(jobs, measured.name)
  const { metric } = story.spec
  const scores = getScoreTerms(metric, listObjectives(metric)[0])
  const { effect, interval } = computeReportedEffect(computeDifferences(pairs, measured), scores)
  const range = interval === null ? ', interval not bounded yet' : ', 95 % interval in brackets'
  const said = effect === null ? 'no difference' : `${formatEffect(effect, interval, measured)}${range}`
  const took = Object.values(minutes).reduce((sum, each) => sum + each, 0)
  const cost = `${formatCount(2 * (pairs.length + jobs.length), 'execution')} in ${formatCount(jobs.length, 'job')}`
  return [
    `  ${scores === null ? 'Hodges-Lehmann' : 'mean'}: ${said}`,
    `  cost: ${cost} of ${formatNumber(Number(took.toPrecision(2)))} min, those beside it included`,
  ]
}
