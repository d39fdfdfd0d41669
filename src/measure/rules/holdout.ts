import { isHoldoutPairNeeded } from '../../decide/holdout.ts'
import { drawSeed, drawTurns } from '../../model/coins.ts'
import type { HoldoutRule } from '../../model/order.ts'
import { execute } from '../execute.ts'
import { layOutHoldout } from '../holdout-data.ts'
import { findBaseSide, listCandidateSides, type Session } from '../session.ts'

/** So many pairs in an order drawn by coin, of the holdout's own command. */
export async function measureHoldout(session: Session, stop: HoldoutRule): Promise<void> {
  const { order } = session.input
  const base = findBaseSide(session)
  const [candidate] = listCandidateSides(session)
  if (base === undefined || candidate === undefined) return
  session.holdout = await layOutHoldout(session)
  const both = [base, candidate]
  if (!stop.exact)
    for (const side of drawTurns(order, 'warm-up', both))
      await execute(session, side, { role: 'warmup', seed: drawSeed(order, 0) })
  for (let block = 0; both.every(({ ended }) => !ended); block++) {
    if (!isHoldoutPairNeeded(stop, session.draft, candidate.label)) return
    const seed = drawSeed(order, block)
    for (const side of drawTurns(order, block, both)) await execute(session, side, { role: 'holdout', seed })
  }
}
