import { reportedJobs } from '../model/pairs.ts'
import { effectOf } from '../decide/evidence/reported-effect.ts'
import { objectivesOf, scoreTermsOf } from '../decide/objectives.ts'
import { effectText, shareOf } from '../decide/paired/effect-text.ts'
import { evidenceBar } from '../decide/paired/evidence-bar.ts'
import { evidenceText } from '../decide/paired/evidence-line.ts'
import { evidencePath, type PathJob, type PathPair } from '../decide/paired/evidence-path.ts'
import { differencesOf, metricPairs } from '../decide/paired/metric-pairs.ts'
import { numberText, plural } from '../decide/wording.ts'
import { short } from './event-line.ts'
import type { PairStory } from './pair-story.ts'
import { table } from './table.ts'

const CHART = 20

const AS = {
  idea: 'as an idea',
  confirmed: 'as confirmed on an earlier base',
  combination: 'as a combination',
  simplify: 'as a simplification',
} as const satisfies Record<PairStory['terms']['as'], string>

interface Measured {
  name: string
  direction: 'minimize' | 'maximize'
  scale: 'log' | 'linear'
}

/** The pairs that a verdict rests on, job by job, with the evidence growing towards what it has to reach. */
export function pairChart(story: PairStory): string[] {
  const jobs = evidencePath(story)
  return [
    ...headline(story),
    ...jobs.flatMap((job, at) => [
      '',
      jobTitle(story, job, at),
      ...(job.unreported ? [] : pairRows(story, job)),
    ]),
    '',
    ...summary(story),
  ]
}

function measuredIn({ spec, rule }: PairStory): Measured {
  const [{ name, direction }] = objectivesOf(spec.metric)
  return { name, direction, scale: rule.scale }
}

function headline(story: PairStory): string[] {
  const { rule, terms, base, tree } = story
  const measured = measuredIn(story)
  const better = measured.direction === 'minimize' ? 'lower' : 'higher'
  const screened = terms.as === 'idea' && rule.fresh_runners > 0
  const screen = screened ? `screened at ${numberText(rule.screen)}, ` : ''
  return [
    `Pairs of ${measured.name}: ${better} is better, ${measured.scale} scale`,
    `  ${AS[terms.as]}: ${screen}kept at ${evidenceText(1 / terms.level)} (level ${numberText(Number(terms.level.toPrecision(3)))})`,
    `  worth having: ${gainText(rule.min_effect, measured)}; counts as nothing: ${gainText(rule.null_effect, measured)}`,
    `  base tree ${short(base.tree)}, candidate tree ${short(tree)}`,
  ]
}

/** A size without its sign, in the units people read. */
function gainText(difference: number, { direction, scale }: Measured): string {
  if (scale === 'linear') return numberText(difference)
  return `${Math.abs(shareOf(difference, direction) * 100).toFixed(1)} %`
}

function jobTitle({ rule }: PairStory, job: PathJob, at: number): string {
  const { order, runner, fresh, screened, unreported } = job
  if (unreported)
    return `job ${at + 1}: its run was lost and left nothing; evidence for keeping starts again; order ${short(order)}`
  const machine = rule.single_machine ? 'new build on this machine' : `runner ${runner.slice(0, 8)}`
  const is = [...(fresh ? ['fresh'] : []), ...(screened ? ['passed the screen'] : [])]
  return `job ${at + 1}: ${[machine, ...is].join(', ')}; order ${short(order)}`
}

function pairRows(story: PairStory, { pairs }: PathJob): string[] {
  const measured = measuredIn(story)
  const keep = 1 / story.terms.level
  const end = evidenceText(keep)
  const axis = ` 1${end.padStart(CHART - 1)}`
  const values = pairs.flatMap(({ base, candidate, lost = false }) =>
    [base, candidate].map(value => valueText(value, lost).length),
  )
  const width = Math.max('candidate'.length, ...values)
  const sides = ['base', 'candidate'].map(side => side.padStart(width))
  const head = ['  pair', ...sides, '   gain', 'first', 'evidence', axis]
  return table([head, ...pairs.map((pair, at) => pairRow(pair, at, { measured, keep, width }))])
}

function pairRow(
  pair: PathPair,
  at: number,
  { measured, keep, width }: { measured: Measured; keep: number; width: number },
): string[] {
  const { base, candidate, difference, first, evidence, lost = false } = pair
  return [
    `  ${String(at + 1).padStart(4)}`,
    valueText(base, lost).padStart(width),
    valueText(candidate, lost).padStart(width),
    (difference === null ? 'none' : signedText(difference, measured)).padStart(7),
    first === 'base' ? 'base' : 'cand.',
    evidenceText(evidence).padStart(8),
    `▕${evidenceBar(evidence, keep, CHART)}▏`,
  ]
}

function valueText(value: number | null, lost: boolean): string {
  if (lost) return 'lost'
  return value === null ? 'failed' : numberText(value)
}

function signedText(difference: number, measured: Measured): string {
  return `${difference < 0 ? '-' : '+'}${gainText(difference, measured).replace('-', '')}`
}

/** Estimate and interval of all pairs, and what they took. */
function summary(story: PairStory): string[] {
  const { minutes } = story
  const jobs = reportedJobs(story.jobs)
  const measured = measuredIn(story)
  const pairs = metricPairs(jobs, measured.name)
  const { metric } = story.spec
  const scores = scoreTermsOf(metric, objectivesOf(metric)[0])
  const { effect, interval } = effectOf(differencesOf(pairs, measured), scores)
  const range = interval === null ? ', interval not bounded yet' : ', 95 % interval in brackets'
  const said = effect === null ? 'no difference' : `${effectText(effect, interval, measured)}${range}`
  const took = Object.values(minutes).reduce((sum, each) => sum + each, 0)
  const cost = `${plural(2 * (pairs.length + jobs.length), 'execution')} in ${plural(jobs.length, 'job')}`
  return [
    `  ${scores === null ? 'Hodges-Lehmann' : 'mean'}: ${said}`,
    `  cost: ${cost} of ${numberText(Number(took.toPrecision(2)))} min, those beside it included`,
  ]
}
