import type { Order } from '../../model/order.ts'
import { type Job, measuredIn, type Pair } from '../../model/pairs.ts'
import { reasonText } from '../../model/reason.ts'
import type { Report, Side } from '../../model/report.ts'
import { isJudged } from '../../spec/judged.ts'
import type { Spec } from '../../spec/schema.ts'
import { again, type Finding, finding } from '../assessment.ts'
import type { Comparison } from '../comparison.ts'
import { isGainExcluded, isWorthSecondLook } from '../evidence/giving-up.ts'
import { verdict } from '../evidence/verdict.ts'
import { failsOnBothSides, failureOf } from '../failures.ts'
import { objectivesOf } from '../objectives.ts'
import { plural } from '../wording.ts'
import { targetHeld } from './target-held.ts'
import { evidenceLine } from './evidence-line.ts'
import { evidenceSentence } from './evidence-sentence.ts'
import type { PairedCase, PairedRule } from './rule.ts'
import { offScale, type Standing, standingOf } from './standing.ts'
import { jobsOf } from './wants-more.ts'

export type PairedInput = {
  spec: Spec
  order: Pick<Order, 'id' | 'stop' | 'carried'>
  report: Report
  label: Side
}

/** The verdict on one candidate by its pairs, of this job and of those before it (decision.md 3.3 and 3.4). */
export function assessPaired(input: PairedInput, rule: PairedRule): Finding {
  const { spec, order, report, label } = input
  const failure = failureOf({ spec, report, label, pairs: true })
  if (failure !== null) return failure
  const terms = rule.terms[label]
  if (terms === undefined) return again(`the order has no terms for ${label}`)
  const jobs = jobsOf(order, measuredIn(report), label)
  const broken = jobs.flatMap(({ pairs }) => pairs).filter(isBroken).length >= 2
  const flaky =
    !isJudged(spec) && jobs.some(({ pairs }) => pairs.some(({ base, lost }) => base === null && !lost))
  if (broken && flaky) return again(failsOnBothSides())
  if (jobs.at(-1)?.order !== order.id) return again(`the report has no pair of ${label}`)
  const paired = { spec, rule, terms, jobs }
  const off = offScale(paired)
  if (off !== null) return scaleViolated(off)
  const standing = standingOf(paired)
  if (standing.status !== 'continue') return concluded(paired, standing)
  // All pairs were run, and only those for a proof are missing: that proof is not there.
  if (jobs.at(-1)?.complete === true) return concluded(paired, { ...standing, status: 'park' })
  return cutShort(rule, jobs)
}

function isBroken({ base, candidate }: Pair): boolean {
  return base !== null && candidate === null
}

function scaleViolated(metric: string): Finding {
  const reason = `scale violated: ${metric} was 0 or less, and is compared on a log scale since calibration`
  return finding('error', `${reason}; set evidence.scale: linear if that can happen`, {
    failure_class: 'eval',
  })
}

/** A job that ends before its rule says so would let its runner choose when to look. */
function cutShort({ pairs }: PairedRule, jobs: readonly Job[]): Finding {
  return again(
    `the report ends after ${jobs.at(-1)?.pairs.length ?? 0} of ${plural(pairs, 'pair')}, too early`,
  )
}

const OUTCOMES = { keep: 'eligible', drop: 'dropped', park: 'inconclusive', 'new-job': 'promising' } as const

function concluded(paired: PairedCase, standing: Standing): Finding {
  const { status, primary, harmed } = standing
  if (status === 'continue') throw new TypeError('a job that goes on has no verdict')
  const { reason, effect } = verdict(primary)
  if (status === 'drop' && reason === 'broken') {
    const broken = isJudged(paired.spec)
      ? 'two of its items have no score, where those of the base have one'
      : 'two of its executions failed where the base ran'
    return finding('error', broken, { failure_class: 'eval' })
  }
  const outcome = outcomeOf(status, standing)
  const said = { sentence: evidenceSentence(paired, standing), evidence: evidenceLine(paired, standing) }
  return finding(outcome, reasonText(said), {
    worse: outcome === 'dropped' && harmed.length > 0,
    comparisons: comparisonsOf(paired, standing),
    improved_objectives: standing.improved,
    violated_objectives: harmed,
    primary_delta: effect,
    rank_score: effect ?? 0,
    target_reached: outcome === 'eligible' && targetHeld(paired),
    failure_class: outcome === 'dropped' ? 'hypothesis' : null,
    given_up: outcome === 'inconclusive' ? givenUpIn(standing) : null,
  })
}

/** "No gain" is a claim: later pairs, of another metric's sake, can take it back. */
function outcomeOf(status: keyof typeof OUTCOMES, { primary, harmed }: Standing): Finding['outcome'] {
  const claimed = harmed.length > 0 || isGainExcluded(primary)
  return status === 'drop' && !claimed ? 'inconclusive' : OUTCOMES[status]
}

function givenUpIn({ primary, promising }: Standing): Finding['given_up'] {
  if (promising !== null || (primary.given_up === null && primary.decided === null)) return null
  return isWorthSecondLook(primary) ? 'for_now' : 'for_good'
}

/** The primary's effect is on its scale; what is relative about it is the same number under log. */
function comparisonsOf({ spec }: PairedCase, standing: Standing): Record<string, Comparison> {
  const [primary] = objectivesOf(spec.metric)
  const { effect } = verdict(standing.primary)
  if (effect === null) return {}
  const improved = standing.improved.includes(primary.name)
  const violated = standing.harmed.includes(primary.name)
  const is = improved ? 'improved' : violated ? 'regressed' : 'inconclusive'
  return { [primary.name]: { verdict: is, delta: effect, relative: effect, violated } }
}
