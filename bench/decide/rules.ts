import { computeCampaignLevel } from '../../src/decide/evidence/rank-test.ts'
import { pairNoise } from './calibration.ts'
import { checkedOutcome, checkKeep } from './keep-check.ts'
import { type OurOptions, weigh } from './our-rule.ts'
import type { Change, Rule, SideBySideRule } from './rule.ts'
import { SIDE_BY_SIDE_RULES } from './side-by-side-rules.ts'
import { STORED_RULES } from './stored-rules.ts'

export const WINNOW = ours('winnow', () => ({}))
export const FIRST_KEEP = ours('winnow, first keep of 100 (alpha .001)', () => ({ alpha: 0.001 }))
/** Half of the evidence by the calibrated noise, and what that does when the calibration was too low. */
export const HYBRID = hybrid('winnow hybrid', { share: 0.5, margin: 1, understated: 1 })
export const HYBRID_HALF = hybrid('winnow hybrid, noise understated by half', {
  share: 0.5,
  margin: 1,
  understated: 2,
})
/** A tenth of it, and half as much noise again as the calibration's upper limit. */
export const CAREFUL = hybrid('winnow careful hybrid', { share: 0.1, margin: 1.5, understated: 1 })
export const CAREFUL_HALF = hybrid('winnow careful hybrid, noise understated by half', {
  share: 0.1,
  margin: 1.5,
  understated: 2,
})

export const ONE_MACHINE = ours('winnow, one machine', () => ({ singleMachine: true }))

const OUR_RULES: readonly SideBySideRule[] = [
  WINNOW,
  FIRST_KEEP,
  ONE_MACHINE,
  ours('winnow, k = 4', () => ({ pairsPerJob: 4 })),
  HYBRID,
  HYBRID_HALF,
  CAREFUL,
  CAREFUL_HALF,
]

export const ALL_RULES: readonly Rule[] = [...STORED_RULES, ...SIDE_BY_SIDE_RULES, ...OUR_RULES]

/** e-LOND with q = .1: the level of the next of `proposals` after so many discoveries. */
export function atCampaignLevel(proposals: number, discoveries: number): SideBySideRule {
  return ours('winnow', () => ({ alpha: computeCampaignLevel({ q: 0.1, n: proposals, discoveries }) }))
}

function hybrid(
  name: string,
  { share, margin, understated }: { share: number; margin: number; understated: number },
): SideBySideRule {
  return ours(name, ({ world }) => ({ hybrid: { noise: (margin * pairNoise(world)) / understated, share } }))
}

function ours(name: string, options: (change: Change) => OurOptions): SideBySideRule {
  return {
    kind: 'side-by-side',
    name,
    source: 'src/decide/evidence',
    decide: change => checkedOutcome(checkKeep(change, weigh(change, options(change)))),
  }
}
