import { execute } from '../execute.ts'
import { seedOf } from '../../model/coins.ts'
import { baseOf, candidatesOf, type Session } from '../session.ts'
import { samplesNeeded } from './stability.ts'

/** A side on its own: a sync, or the incumbent's numbers that others will be compared with. */
export async function alone(session: Session): Promise<void> {
  const { order, spec } = session.input
  const side = candidatesOf(session)[0] ?? baseOf(session)
  if (side === undefined) return
  const samples = samplesNeeded(spec.measurement.stability)
  for (let taken = 0; taken < samples && !side.ended; taken++) {
    await execute(session, side, { role: 'sample', seed: seedOf(order, taken) })
  }
}
