import { isRepeatNeeded } from '../../decide/once.ts'
import { execute } from '../execute.ts'
import { drawSeed, drawTurns } from '../../model/coins.ts'
import type { StopRule } from '../../model/order.ts'
import { findBaseSide, listCandidateSides, type Session, type OrderSide } from '../session.ts'

/** One run a side; what looks like a gain is run once more, identically, before anybody may believe it. */
export async function measureOnce(
  session: Session,
  stop: Extract<StopRule, { rule: 'once' }>,
): Promise<void> {
  const { order, spec } = session.input
  const rule = { spec, minEffect: stop.min_effect, scale: stop.scale }
  const seed = drawSeed(order, 0)
  const contenders = listCandidateSides(session).filter(side => !side.ended)
  if (contenders.length === 0) return
  for (const side of drawTurns(order, 0, withBase(session, contenders))) {
    await execute(session, side, { role: 'sample', seed })
  }
  const gained = contenders.filter(side => isRepeatNeeded(rule, session.draft, side.label))
  if (gained.length === 0) return
  for (const side of drawTurns(order, 1, withBase(session, gained))) {
    await execute(session, side, { role: 'repeat', seed })
  }
}

function withBase(session: Session, others: readonly OrderSide[]): OrderSide[] {
  const base = findBaseSide(session)
  return base === undefined ? [...others] : [base, ...others]
}
