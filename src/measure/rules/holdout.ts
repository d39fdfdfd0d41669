import { holdoutWantsMore } from '../../decide/holdout.ts'
import { seedOf, turns } from '../../model/coins.ts'
import type { HoldoutRule } from '../../model/order.ts'
import { execute } from '../execute.ts'
import { layOutHoldout } from '../holdout-data.ts'
import { baseOf, candidatesOf, type Session } from '../session.ts'

/** So many pairs in an order drawn by coin, of the holdout's own command. */
export async function holdout(session: Session, stop: HoldoutRule): Promise<void> {
  const { order } = session.input
  const base = baseOf(session)
  const [candidate] = candidatesOf(session)
  if (base === undefined || candidate === undefined) return
  session.holdout = await layOutHoldout(session)
  const both = [base, candidate]
  if (!stop.exact)
    for (const side of turns(order, 'warm-up', both))
      await execute(session, side, { role: 'warmup', seed: seedOf(order, 0) })
  for (let block = 0; both.every(({ ended }) => !ended); block++) {
    if (!holdoutWantsMore(stop, session.draft, candidate.label)) return
    const seed = seedOf(order, block)
    for (const side of turns(order, block, both)) await execute(session, side, { role: 'holdout', seed })
  }
}
