import { type Rungs, rungsOf, type Stability } from '../../decide/ladder.ts'
import { executionsOf, snapshotOf } from '../../decide/readings.ts'
import { decideStability } from '../../decide/stability.ts'
import { UserError } from '../../errors.ts'
import type { Snapshot } from '../../model/snapshot.ts'
import { execute } from '../execute.ts'
import { seedOf, turns } from '../../model/coins.ts'
import { baseOf, candidatesOf, type Session, type Side } from '../session.ts'

/** ce's rules: so many samples as the mode asks for, and no more than the next measurement it names. */
export async function stability(session: Session, baseline: Snapshot | null): Promise<void> {
  const { order, spec } = session.input
  const plan = spec.measurement.stability
  if (plan === null) {
    throw new UserError('the order follows measurement.stability, which the spec does not have', {
      place: { path: 'measurement.stability' },
      fix: 'issue the order anew from the spec that is in force',
    })
  }
  const contenders = candidatesOf(session)
  const base = baseline === null ? baseOf(session) : undefined
  if (rungsOf(plan)?.smoke === true) await smoke(session, contenders)
  for (let block = 0; ; block++) {
    const wanted = contenders.filter(side => wantsMore(session, side, { plan, baseline }))
    if (wanted.length === 0) return
    const due =
      base !== undefined && samplesOf(session, base) < samplesNeeded(plan) ? [base, ...wanted] : wanted
    for (const side of turns(order, block, due)) {
      await execute(session, side, { role: 'sample', seed: seedOf(order, block) })
    }
  }
}

/** What a side measured for comparison takes: as many samples as a keep would need. */
export function samplesNeeded(plan: Stability | null): number {
  if (plan === null || plan.mode === 'stable') return 1
  return rungsOf(plan)?.confirmation ?? plan.repeat_count
}

async function smoke(session: Session, contenders: readonly Side[]): Promise<void> {
  const seed = seedOf(session.input.order, 0)
  for (const side of contenders) await execute(session, side, { role: 'smoke', seed })
}

interface Against {
  plan: Stability
  baseline: Snapshot | null
}

function wantsMore(session: Session, side: Side, { plan, baseline }: Against): boolean {
  if (side.ended) return false
  const taken = samplesOf(session, side)
  const rungs: Rungs | null = rungsOf(plan)
  if (taken === 0) return true
  if (rungs === null) return taken < samplesNeeded(plan)
  const { spec } = session.input
  const decision = decideStability({
    spec: { metric: spec.metric, measurement: { stability: plan } },
    baseline: baseline ?? snapshotOf(spec, session.draft, 'base'),
    candidate: snapshotOf(spec, session.draft, side.label),
  })
  return decision.next_measurement !== 'none'
}

function samplesOf(session: Session, side: Side): number {
  return executionsOf(session.draft, side.label, 'sample').length
}
