import { campaignLevel } from '../../src/decide/evidence/levels.ts'
import { pairNoise } from './calibration.ts'
import { type OurOptions, outcomeOf, weigh } from './our-rule.ts'
import type { Change, Rule, SideBySideRule } from './rule.ts'
import { SIDE_BY_SIDE_RULES } from './side-by-side-rules.ts'
import { STORED_RULES } from './stored-rules.ts'

export const WINNOW = ours('winnow', () => ({}))
export const FIRST_KEEP = ours('winnow, first keep of 100 (alpha .001)', () => ({ alpha: 0.001 }))
export const HYBRID = ours('winnow hybrid', ({ world }) => ({ hybrid: { noise: pairNoise(world) } }))
export const HYBRID_HALF = ours('winnow hybrid, noise understated by half', ({ world }) => ({
  hybrid: { noise: pairNoise(world) / 2 },
}))

export const ONE_MACHINE = ours('winnow, one machine', () => ({ singleMachine: true }))

const OUR_RULES: readonly SideBySideRule[] = [
  WINNOW,
  FIRST_KEEP,
  ONE_MACHINE,
  ours('winnow, k = 4', () => ({ pairsPerJob: 4 })),
  HYBRID,
  HYBRID_HALF,
]

export const ALL_RULES: readonly Rule[] = [...STORED_RULES, ...SIDE_BY_SIDE_RULES, ...OUR_RULES]

/** e-LOND with q = .1: the level of the next of `proposals` after so many discoveries. */
export function atCampaignLevel(proposals: number, discoveries: number): SideBySideRule {
  return ours('winnow', () => ({ alpha: campaignLevel({ q: 0.1, n: proposals, discoveries }) }))
}

function ours(name: string, options: (change: Change) => OurOptions): SideBySideRule {
  return {
    kind: 'side-by-side',
    name,
    source: 'src/decide/evidence',
    decide: change => outcomeOf(weigh(change, options(change))),
  }
}
