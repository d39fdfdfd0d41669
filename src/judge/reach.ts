import { computeLargestSuiteEvidence } from '../decide/evidence/suite-maximum.ts'
import { UserError } from '../errors.ts'

export interface ReachCase {
  sampleSize: number
  /** Another sample confirms what the first one screened. */
  confirms: boolean
  level: number
  screen?: number
}

export interface SampleReach {
  /** There are scores that would show a gain. */
  reaches: boolean
  /** The smallest sample of which that is true. */
  leastSampleSize: number
}

const SCREEN = 20

/** Whether a sample can show anything at all: refused before anything is spent where it cannot (decision 3.1). */
export function computeSampleReach(reach: ReachCase): SampleReach {
  if (!(reach.level > 0 && reach.level < 1))
    throw new UserError(`the level is ${reach.level}`, { fix: 'give a number above 0 and below 1' })
  let least = 1
  while (!canShow({ ...reach, sampleSize: least })) least += 1
  return { reaches: reach.sampleSize >= least, leastSampleSize: least }
}

/** The screen ends its sample with the pair that reaches it, and no pair more than doubles what there was. */
function canShow({ sampleSize, confirms, level, screen = SCREEN }: ReachCase): boolean {
  const most = computeLargestSuiteEvidence(sampleSize, 'graded')
  if (!confirms) return most >= 1 / level
  return most >= screen && 2 * screen * most >= 1 / level
}
