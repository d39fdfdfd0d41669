import { execute } from '../execute.ts'
import { drawSeed } from '../../model/coins.ts'
import { findBaseSide, listCandidateSides, type Session } from '../session.ts'
import { countSamplesNeeded } from './stability.ts'

/** A side on its own: a sync, or the incumbent's numbers that others will be compared with. */
export async function measureAlone(session: Session): Promise<void> {
  const { order, spec } = session.input
  const side = listCandidateSides(session)[0] ?? findBaseSide(session)
  if (side === undefined) return
  const samples = countSamplesNeeded(spec.measurement.stability)
  for (let taken = 0; taken < samples && !side.ended; taken++) {
    await execute(session, side, { role: 'sample', seed: drawSeed(order, taken) })
  }
}
