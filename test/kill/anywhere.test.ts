import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filesOf, type SmallCampaign, smallCampaign } from './campaigns.ts'
import { bundledCommandLine } from './command-line.ts'
import { endingOf, expectSound, lostTwice } from './ending.ts'
import { type Scene, scene } from './scene.ts'

/** Seeded, so that a campaign that fails is found again by its number: `-t 'campaign 17'`. */
const SEED = 2207
const COUNT = process.env['WINNOW_KILLS'] === 'full' ? 40 : 6

interface Kill {
  /** Which of the fault points that were reached, and which time of it; both taken round and round. */
  point: number
  time: number
}

const kill = fc.record({ point: fc.nat({ max: 1000 }), time: fc.nat({ max: 1000 }) })
const trial = fc.record({ campaign: smallCampaign, kills: fc.array(kill, { minLength: 1, maxLength: 2 }) })
const trials = fc.sample(trial, { seed: SEED, numRuns: COUNT }).map((each, at) => ({ ...each, number: at + 1 }))

const commandLine = bundledCommandLine()

/** Undisturbed, in this process: how it ends, and every fault point on the way. */
async function undisturbed(campaign: SmallCampaign) {
  const whole = scene(filesOf(campaign), campaign)
  const reached: string[] = []
  await whole.look(
    async post => {
      await post.start()
      await post.run()
    },
    point => void reached.push(point),
  )
  return { ...(await endingOf(whole)), reached }
}

/** Every point has its turn over the trials, the rare ones as often as those at every step. */
function faultOf(reached: readonly string[], { point, time }: Kill): string {
  const points = [...new Set(reached)].toSorted()
  const chosen = points[point % points.length] ?? ''
  const times = reached.filter(each => each === chosen).length
  return `${chosen}:${1 + (time % times)}`
}

/** Killed at each of these, if it gets there, and then let run to its end. */
async function killedAt(at: Scene, faults: readonly string[]): Promise<string[]> {
  const killed: string[] = []
  for (const WINNOW_FAULT of faults) {
    const { signal, code, err } = await commandLine.run(at, ['run'], { WINNOW_FAULT })
    if (signal === 'SIGKILL') killed.push(WINNOW_FAULT)
    else expect([code, err]).toEqual([expect.toBeOneOf([0, 14]), err])
  }
  const { code, err } = await commandLine.run(at, ['run'])
  expect([code, err]).toEqual([expect.toBeOneOf([0, 14]), err])
  return killed
}

describe('a run that is killed anywhere ends as if it had not been', () => {
  it.each(trials)('campaign $number', async ({ campaign, kills }) => {
    const whole = await undisturbed(campaign)
    const faults = kills.map(each => faultOf(whole.reached, each))
    const again = scene(filesOf(campaign), campaign)
    const killed = await killedAt(again, faults)
    const cut = await endingOf(again)
    console.log(JSON.stringify({ campaign, faults, killed, counts: whole.ending.counts, lost: lostTwice(cut.campaign) }))
    if (lostTwice(cut.campaign).length === 0) expect(cut.ending).toEqual(whole.ending)
    await expectSound(again, commandLine, cut)
  })
})
