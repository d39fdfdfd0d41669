import { buildSide } from '../build.ts'
import { execute } from '../execute.ts'
import { drawSeed } from '../../model/coins.ts'
import { findBaseSide, type Session } from '../session.ts'

/** Is it deterministic? The base alone, another seed each time, built anew half-way. */
export async function measureCalibration(session: Session, runs: number): Promise<void> {
  const base = findBaseSide(session)
  if (base === undefined) return
  const half = Math.ceil(runs / 2)
  for (let run = 0; run < runs && !base.ended; run++) {
    if (run === half) await buildSide(session, base, 1)
    await execute(session, base, { role: 'sample', seed: drawSeed(session.input.order, run) })
  }
}
