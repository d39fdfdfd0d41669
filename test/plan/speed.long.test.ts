import { describe, expect, it } from 'vitest'
import { planCampaign } from '../../src/plan/stages.ts'
import { campaign } from './a-campaign.ts'
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
    const ratio = shortest(() => planCampaign(many)) / shortest(() => planCampaign(few))
    expect(ratio).toBeLessThan(9)
  })

  it.each([
    ['in a round', longCampaign(20)],
    ['between rounds', campaign().withExperiments(5)],
  ])('lists the experiments once, however many read them: %s', (_, built) => {
    const look = world(built)
    let listed = 0
    look.campaign.experiments = new Proxy(look.campaign.experiments, {
      ownKeys: all => {
        listed += 1
        return Reflect.ownKeys(all)
      },
    })
    planCampaign(look)
    expect(listed).toBe(1)
  })
})
