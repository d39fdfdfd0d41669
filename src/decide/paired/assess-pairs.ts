import { askedIn, type Order, type StopRule } from '../../model/order.ts'
import { jobOf, measuredIn } from '../../model/pairs.ts'
import type { Report, Side } from '../../model/report.ts'
import type { Spec } from '../../spec/schema.ts'
import { again, type Finding, finding } from '../assessment.ts'
import { effectOf } from '../evidence/reported-effect.ts'
import { harmShown } from '../evidence/verdict.ts'
import { failureOf } from '../failures.ts'
import { objectivesOf, scoreTermsOf } from '../objectives.ts'
import { plural } from '../wording.ts'
import { effectText } from './effect-text.ts'
import { differencesOf, metricPairs } from './metric-pairs.ts'
import { scaleFor } from './objective-evidence.ts'

type PairsRule = Extract<StopRule, { rule: 'pairs' }>
type Input = { spec: Spec; order: Pick<Order, 'id' | 'stop' | 'carried'>; report: Report; label: Side }

/** What nobody asks a gain of (a revert, somebody else's tip): its gates hold, and no harm is shown by its pairs. */
export function assessPairs(input: Input, rule: PairsRule): Finding {
  const { spec, order, report, label } = input
  const failure = failureOf({ spec, report, label, pairs: true })
  if (failure !== null) return failure
  const job = jobOf(askedIn(order), measuredIn(report), label)
  if (!job.complete) return again(`the report has ${job.pairs.length} of ${plural(rule.pairs, 'pair')}`)
  const harmed = objectivesOf(spec.metric).flatMap(({ name, direction }) => {
    const pairs = metricPairs([job], name)
    const scale = scaleFor(rule, pairs)
    return harmShown(differencesOf(pairs, { direction, scale })) ? [name] : []
  })
  const [primary] = objectivesOf(spec.metric)
  const pairs = metricPairs([job], primary.name)
  const scale = scaleFor(rule, pairs)
  const { effect, interval } = effectOf(
    differencesOf(pairs, { direction: primary.direction, scale }),
    scoreTermsOf(spec.metric, primary),
  )
  const said = effect === null ? primary.name : effectText(effect, interval, { ...primary, scale })
  const worse = harmed.length > 0
  const reason = `${worse ? `${harmed.join(', ')} shown to be worse: ` : 'no harm shown: '}${said}, ${plural(job.pairs.length, 'pair')}`
  return finding(worse ? 'dropped' : 'inconclusive', reason, {
    worse,
    violated_objectives: harmed,
    primary_delta: effect,
    rank_score: effect ?? 0,
  })
}
