import { needsRepeat } from '../../decide/once.ts'
import { execute } from '../execute.ts'
import { seedOf, turns } from '../../model/coins.ts'
import type { StopRule } from '../../model/order.ts'
import { baseOf, candidatesOf, type Session, type Side } from '../session.ts'

/** One run a side; what looks like a gain is run once more, identically, before anybody may believe it. */
export async function once(session: Session, stop: Extract<StopRule, { rule: 'once' }>): Promise<void> {
  const { order, spec } = session.input
  const rule = { spec, minEffect: stop.min_effect, scale: stop.scale }
  const seed = seedOf(order, 0)
  const contenders = candidatesOf(session).filter(side => !side.ended)
  if (contenders.length === 0) return
  for (const side of turns(order, 0, withBase(session, contenders))) {
    await execute(session, side, { role: 'sample', seed })
  }
  const gained = contenders.filter(side => needsRepeat(rule, session.draft, side.label))
  if (gained.length === 0) return
  for (const side of turns(order, 1, withBase(session, gained))) {
    await execute(session, side, { role: 'repeat', seed })
  }
}

function withBase(session: Session, others: readonly Side[]): Side[] {
  const base = baseOf(session)
  return base === undefined ? [...others] : [base, ...others]
}
