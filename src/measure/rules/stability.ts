import { type LadderRungs, getRungs, type StabilitySpec } from '../../decide/ladder.ts'
import { listExecutions, buildSnapshot } from '../../decide/readings.ts'
import { decideStability } from '../../decide/stability.ts'
import { UserError } from '../../errors.ts'
import type { Snapshot } from '../../model/snapshot.ts'
import { execute } from '../execute.ts'
import { drawSeed, drawTurns } from '../../model/coins.ts'
import { findBaseSide, listCandidateSides, type Session, type OrderSide } from '../session.ts'

/** ce's rules: so many samples as the mode asks for, and no more than the next measurement it names. */
export async function measureStability(session: Session, baseline: Snapshot | null): Promise<void> {
  const { order, spec } = session.input
  const plan = spec.measurement.stability
  if (plan === null) {
    throw new UserError('the order follows measurement.stability, which the spec does not have', {
      place: { path: 'measurement.stability' },
      fix: 'issue the order anew from the spec that is in force',
    })
  }
  const contenders = listCandidateSides(session)
  const base = baseline === null ? findBaseSide(session) : undefined
  if (getRungs(plan)?.smoke === true) await runSmoke(session, contenders)
  for (let block = 0; ; block++) {
    const wanted = contenders.filter(side => shouldContinue(session, side, { plan, baseline }))
    if (wanted.length === 0) return
    const due =
      base !== undefined && countSamples(session, base) < countSamplesNeeded(plan)
        ? [base, ...wanted]
        : wanted
    for (const side of drawTurns(order, block, due)) {
      await execute(session, side, { role: 'sample', seed: drawSeed(order, block) })
    }
  }
}

/** What a side measured for comparison takes: as many samples as a keep would need. */
export function countSamplesNeeded(plan: StabilitySpec | null): number {
  if (plan === null || plan.mode === 'stable') return 1
  return getRungs(plan)?.confirmation ?? plan.repeat_count
}

async function runSmoke(session: Session, contenders: readonly OrderSide[]): Promise<void> {
  const seed = drawSeed(session.input.order, 0)
  for (const side of contenders) await execute(session, side, { role: 'smoke', seed })
}

interface StabilityTarget {
  plan: StabilitySpec
  baseline: Snapshot | null
}

function shouldContinue(session: Session, side: OrderSide, { plan, baseline }: StabilityTarget): boolean {
  if (side.ended) return false
  const taken = countSamples(session, side)
  const rungs: LadderRungs | null = getRungs(plan)
  if (taken === 0) return true
  if (rungs === null) return taken < countSamplesNeeded(plan)
  const { spec } = session.input
  const decision = decideStability({
    spec: { metric: spec.metric, measurement: { stability: plan } },
    baseline: baseline ?? buildSnapshot(spec, session.draft, 'base'),
    candidate: buildSnapshot(spec, session.draft, side.label),
  })
  return decision.next_measurement !== 'none'
}

function countSamples(session: Session, side: OrderSide): number {
  return listExecutions(session.draft, side.label, 'sample').length
}
