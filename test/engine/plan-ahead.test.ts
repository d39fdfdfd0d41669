import { expect, test } from 'vitest'
import type { ControllerContext } from '../../src/engine/observe/observe.ts'
import { foldAllEvents } from '../../src/ledger/load.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import type { Oid } from '../../src/model/ids.ts'
import { shorter, createSizeRepository } from '../support/size-repository.ts'

const LEDGER = 'optimize-state/size'

/** What the memory holds when a transaction with several plans in it is about to be pushed. */
interface Held {
  tip: Oid | null
  campaign: Campaign
}

test('plans that are not pushed leave the loaded campaign unchanged', async () => {
  const held: Held[] = []
  const rivals: Oid[] = []
  let controller: ControllerContext | null = null
  const here = await createSizeRepository([shorter('a', 3), shorter('b', 5)], {
    remote: true,
    fault(point) {
      const loaded = controller?.memory.loaded
      if (point !== 'commit:before-push' || loaded == null) return
      held.push({ tip: loaded.tip.commit, campaign: structuredClone(loaded.campaign) })
      const rival = rivals.pop()
      if (rival !== undefined) here.push(rival, LEDGER)
    },
  })
  await here.start()
  rivals.push(await recordLater())
  controller = await here.hands()
  await here.until(({ experiments }) => experiments['exp-001']?.status === 'ordered')
  expect(await here.kinds()).toContain('note')
  await controller.runner.settled()
  rivals.push(await recordLater())
  expect(await here.run()).toEqual({ for: 'ideas' })
  expect(await here.outcomes()).toEqual({ a3: 'kept', b5: 'runner_up_kept' })

  // These include both pushes that lost the race, and the retry of each.
  expect(held.length).toBeGreaterThan(4)
  for (const { tip, campaign } of held) expect(campaign).toEqual(await foldAt(tip))
  expect(controller.memory.loaded?.campaign).toEqual(await foldAt(here.bare('rev-parse', LEDGER)))

  async function foldAt(tip: Oid | null): Promise<Campaign> {
    return (await foldAllEvents(here.place.repository, tip ?? '')).campaign
  }

  /** The ledger that another process writes: it stays unseen until the remote's branch moves to it. */
  async function recordLater(): Promise<Oid> {
    const before = here.bare('rev-parse', LEDGER)
    const other = await here.another()
    await other.person({ kind: 'note', text: 'a person was faster', experiment: null })
    const after = here.bare('rev-parse', LEDGER)
    here.push(before, LEDGER)
    return after
  }
})
