import { describe, expect, it } from 'vitest'
import { plan } from '../../src/plan/plan.ts'
import { world } from './a-world.ts'
import { longCampaign } from './many.ts'

/** The shortest of many looks: what the work takes when nothing else gets in its way. */
function shortest(look: () => unknown): number {
  let best = Infinity
  for (let times = 0; times < 15; times++) {
    const began = performance.now()
    look()
    best = Math.min(best, performance.now() - began)
  }
  return best
}

describe('a plan', () => {
  it('takes time in proportion to the experiments there were, not to their square', () => {
    // Both are more than a processor keeps beside it: what is compared is work, not where it lies.
    const few = world(longCampaign(4_000))
    const many = world(longCampaign(16_000))
    const ratio = shortest(() => plan(many)) / shortest(() => plan(few))
    expect(ratio).toBeLessThan(9)
  })
})
