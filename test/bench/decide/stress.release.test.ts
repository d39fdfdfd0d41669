import { describe, expect, it } from 'vitest'
import type { World } from '../../../bench/decide/noise.ts'
import type { Random } from '../../../bench/decide/random.ts'
import { WINNOW } from '../../../bench/decide/rules.ts'
import type { Scenario } from '../../../bench/decide/scenarios.ts'
import { everReaches, STRESSES } from '../../../bench/decide/stress.ts'
import { T_TEST } from '../../../bench/decide/side-by-side-rules.ts'
import { atLeast, atMost, shareOf } from './a-share.ts'

const PLAYS = 500

function share(scenario: Scenario, keepsNothing: (world: World) => boolean): number {
  const played = (random: Random) => keepsNothing({ scenario, random, byRunner: 0 })
  return shareOf(PLAYS, scenario.name, played)
}

const [typical, , , , coldAndFirst] = STRESSES

describe.each(STRESSES.map(scenario => [scenario.name, scenario] as const))('under %s', (_name, scenario) => {
  it('the rule keeps at most alpha of what does nothing', () => {
    expect(share(scenario, world => WINNOW.decide({ world, effect: 0 }).kept)).toBeLessThanOrEqual(
      atMost(0.01, PLAYS),
    )
  })

  it('evidence looked at after each of 100 pairs stays within its level', () => {
    expect(share(scenario, world => everReaches(world, 20, 0, 'coin'))).toBeLessThanOrEqual(
      atMost(0.05, PLAYS),
    )
  })
})

describe('why every pair has its own coin', () => {
  it('a fixed order breaks the promise on an ordinary runner', () => {
    if (typical === undefined) throw new Error('no typical runner')
    const fixed = share(typical, world => everReaches(world, 20, 0, 'base-first'))
    expect(fixed).toBeGreaterThan(atMost(0.05, PLAYS))
  })

  it('and keeps every no-op where going first or cold costs 3 %, whatever the null effect', () => {
    if (coldAndFirst === undefined) throw new Error('no cold runner')
    const fixed = share(coldAndFirst, world => everReaches(world, 20, 0.005, 'base-first'))
    expect(fixed).toBeGreaterThanOrEqual(atLeast(0.999, PLAYS))
  })
})

describe('a test that is run again until it passes', () => {
  it('keeps far more than its level, which evidence does not', () => {
    if (typical === undefined) throw new Error('no typical runner')
    const tries = [1, 2, 3, 4, 5]
    const again = share(typical, world => tries.some(() => T_TEST.decide({ world, effect: 0 }).kept))
    expect(again).toBeGreaterThan(atMost(0.05, PLAYS))
  })
})
