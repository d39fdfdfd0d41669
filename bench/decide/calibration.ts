import { calibrateNoiseEvidence, type CalibrationJob } from '../../src/decide/evidence/calibration.ts'
import { drawRunner, type World } from './noise.ts'
import { timed, warmUp } from './our-rule.ts'
import { times } from './rule.ts'

const JOBS = 3
const PAIRS = 8

/** Upper limit of the pair noise that a calibration of three jobs finds, each on a runner of its own. */
export function pairNoise(world: World): number {
  const { pair_sd_upper90: upper } = calibrateNoiseEvidence(times(JOBS, () => sameTreeTwice(world)))
  if (upper === null) throw new Error(`${JOBS * PAIRS} pairs are too few for a limit`)
  return upper
}

export function sameTreeTwice({ scenario, random }: World, gain = 0): CalibrationJob {
  const job = drawRunner({ scenario, random, byRunner: 0 }).startJob()
  warmUp(job, gain, random.coin())
  return { pairs: times(PAIRS, () => timed(job, gain, random.coin())) }
}
