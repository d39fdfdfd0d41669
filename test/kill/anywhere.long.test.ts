import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { filesOf, smallCampaign } from './campaigns.ts'
import { bundledCommandLine } from './command-line.ts'
import { endingOf, expectSound, stateOf } from './ending.ts'
import { full } from './full.ts'
import { killedAt, undisturbed } from './run-through.ts'
import { scene } from './scene.ts'

/** Seeded, so that a campaign that fails is found again by its number: `-t 'campaign 17'`. */
const SEED = 2207

/** Killed twice: which time of each point is drawn, the points themselves take turns over all trials. */
const trial = fc.record({ campaign: smallCampaign, times: fc.tuple(fc.nat(), fc.nat()) })
const trials = fc
  .sample(trial, { seed: SEED, numRuns: full ? 200 : 1 })
  .map((each, index) => ({ ...each, number: index + 1 }))

const commandLine = bundledCommandLine()

/** In strides, so that few trials already meet points of every kind. */
function faultOf(reached: readonly string[], turn: number, time: number): string {
  const points = [...new Set(reached)].toSorted()
  const chosen = points[(turn * 5) % points.length] ?? ''
  const times = reached.filter(each => each === chosen).length
  // The second kill meets what is left of the campaign after the first.
  const within = turn % 2 === 0 ? times : Math.ceil(times / 2)
  return `${chosen}:${1 + (time % within)}`
}

describe('a run that is killed anywhere has the same result', () => {
  it.each(trials)('campaign $number', async ({ campaign, times, number }) => {
    const left = scene(filesOf(campaign), campaign)
    const reached = await undisturbed(left)
    const whole = await endingOf(left)

    const again = scene(filesOf(campaign), campaign)
    const faults = times.map((time, nth) => faultOf(reached, 2 * number + nth, time))
    const killed = await killedAt(again, commandLine, faults)
    // Side by side, reports come in any order, and a point may be reached fewer times.
    if (campaign.round === 1) expect(killed).toContain(faults[0])
    const cut = await endingOf(again)
    if (campaign.noisy) expect(stateOf(cut)).toEqual(stateOf(whole))
    else expect(cut.ending).toEqual(whole.ending)
    await expectSound(again, commandLine, cut)
  })
})
