import { expect, test } from 'vitest'
import { findStrangers } from '../../src/engine/observe/pulls.ts'
import type { Forge, Permission } from '../../src/github/port.ts'
import { buildCampaignRefs } from '../../src/model/ids.ts'
import { aPull } from '../github/a-pull.ts'
import { campaign, oidOf } from '../plan/a-campaign.ts'
import { carryOut } from '../plan/a-world.ts'

const PEOPLE = 25
const logins = Array.from({ length: PEOPLE }, (_, index) => `eve${index}`)

/** One pull request of each, from a fork of their own. */
function offered() {
  const built = campaign()
  const pulls = logins.map((author, index) => {
    const branch = `${author}:faster`
    built.withExperiment({ branch, owned: false, pull: index + 1 })
    return aPull({ number: index + 1, author, branch })
  })
  return { built, pulls }
}

function asking(level: (login: string) => Permission | null) {
  const asked: string[] = []
  const permissionOf = async (login: string) => {
    asked.push(login)
    return level(login)
  }
  const forge: Pick<Forge, 'readPermission'> = { readPermission: permissionOf }
  return { asked, place: { refs: buildCampaignRefs('optimize', 'size'), forge } }
}

test('a recorded head causes no second lookup of its author, and a new head causes one', async () => {
  const { built, pulls } = offered()
  const { asked, place } = asking(() => 'read')
  for (let look = 0; look < 3; look++)
    carryOut(built, { outsiders: await findStrangers(place, built.campaign, pulls) })
  // Twenty at the first look, the others at the next.
  expect(asked).toEqual(logins)

  carryOut(built, { branches: new Map([['eve3:faster', oidOf('another head')]]) })
  expect(built.experiment('exp-004').head).toBe(oidOf('another head'))
  await findStrangers(place, built.campaign, pulls)
  expect(asked.slice(PEOPLE)).toEqual(['eve3'])
})

test('an author without an answer yet keeps the experiment waiting without a reason', async () => {
  const { built, pulls } = offered()
  const { place } = asking(login => (login === 'eve0' ? 'write' : null))
  const strangers = await findStrangers(place, built.campaign, pulls)
  expect(strangers.has('exp-001')).toBe(false)
  expect(strangers.get('exp-002')).toBeNull()
})

test('authors of queued experiments are looked up between rounds only; during a round their experiments wait', async () => {
  const built = campaign().ready().withExperiment().ordered()
  built.withExperiment({ branch: 'eve0:faster', owned: false, pull: 1 })
  const pulls = [aPull({ number: 1, author: 'eve0', branch: 'eve0:faster' })]
  const { asked, place } = asking(() => 'write')
  expect(built.campaign.round?.open).toBe(true)
  expect(await findStrangers(place, built.campaign, pulls)).toEqual(new Map([['exp-002', null]]))
  expect(asked).toEqual([])

  built.measured()
  carryOut(built, {})
  expect(built.campaign.round?.open).toBe(false)
  expect(await findStrangers(place, built.campaign, pulls)).toEqual(new Map())
  expect(asked).toEqual(['eve0'])
})
