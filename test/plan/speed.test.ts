import { describe, expect, it } from 'vitest'
import type { Experiment } from '../../src/model/experiment.ts'
import { planCampaign } from '../../src/plan/stages.ts'
import type { World } from '../../src/plan/world.ts'
import { campaign } from './a-campaign.ts'
import { world } from './a-world.ts'
import { longCampaign } from './many.ts'

/** How often a plan reads a field of an experiment. */
function countReads(built: World): number {
  let reads = 0
  const get = (target: Experiment, key: string | symbol) => {
    reads += 1
    return Reflect.get(target, key)
  }
  const experiments = Object.entries(built.campaign.experiments)
  const campaign = {
    ...built.campaign,
    experiments: Object.fromEntries(experiments.map(([id, each]) => [id, new Proxy(each, { get })])),
  }
  planCampaign({ ...built, campaign })
  return reads
}

describe('a plan', () => {
  it('reads experiments in proportion to their number, not to its square', () => {
    const [few, many] = [400, 1_600].map(size => countReads(world(longCampaign(size))))
    expect(few).toBeGreaterThan(400)
    expect((many ?? 0) / (few ?? 1)).toBeLessThan(4.5)
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
