import { expect, test } from 'vitest'
import { letters } from '../support/size-repository.ts'
import { campaignOnGithub } from './campaign-on-github.ts'

test('a machine whose clock is hours ahead of GitHub’s hears comments, and records GitHub’s time', async () => {
  const there = await campaignOnGithub()
  const { world } = there.github
  world.settings.tellsTime = true
  const hours = 5 * 3_600_000
  const machineClock = {
    now: () => Date.now() + hours,
    monotonic: () => performance.now(),
    sleep: async () => {},
  }
  expect(await there.wake({ machineClock })).toMatchObject({ code: 0 })
  const { number } = await there.offers('shorter', { 'src/a.txt': letters('a', 4) })
  await there.asks(`POST /issues/${number}/comments`, { body: '/winnow pause -m "lunch"' })
  expect(await there.wake({ machineClock })).toMatchObject({ code: 0 })
  const client = await there.openClient()
  expect(await client.campaign()).toMatchObject({ status: 'paused', status_reason: 'lunch' })
  for (const { at } of await client.events()) expect(Date.parse(at)).toBeLessThanOrEqual(world.clock + 2_000)
})
