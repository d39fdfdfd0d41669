import { describe, expect, it } from 'vitest'
import { per, playMany } from '../../../bench/decide/case.ts'
import { type LuckCase, NO_OPS, playLuck } from '../../../bench/decide/luck.ts'
import { HARMFUL, HONEST, type MeanCase, playMean, SHARED } from '../../../bench/decide/mean.ts'
import { seeded } from '../../../bench/decide/random.ts'

/** Few, so that this takes seconds: `npm run bench:decide -- --only mean,luck` plays thousands. */
const PLAYS = 60

function playedMean(each: MeanCase) {
  return playMany(PLAYS, seeded(each.name), { play: random => playMean(each, random) })
}

function find<T extends { name: string }>(cases: readonly T[], name: string): T {
  const found = cases.find(each => each.name.includes(name))
  if (found === undefined) throw new Error(`no case ${name}`)
  return found
}

describe('changes with a better median and a worse mean', () => {
  it.each(HARMFUL.map(each => [each.name, each] as const))(
    '%s: held, and next to none is kept',
    (_, each) => {
      const tally = playedMean(each)
      expect(per(tally, 'gained')).toBeGreaterThan(0.5)
      expect(per(tally, 'kept')).toBeLessThanOrEqual(0.05)
      expect(per(tally, 'held', 'gained')).toBeGreaterThan(0.9)
    },
  )
})

describe('honest gains', () => {
  it('are not held on an ordinary runner', () => {
    const tally = playedMean(find(HONEST, '+5 %, typical'))
    expect(per(tally, 'kept', 'gained')).toBeGreaterThan(0.95)
  })

  it('are rarely held where both sides have slow runs', () => {
    const tally = playedMean(find(SHARED, '5 % of all runs x3'))
    expect(per(tally, 'held', 'gained')).toBeLessThan(0.15)
  })
})

describe('the luck of a job', () => {
  it('of 5 % is kept far less often than pairs alone would', () => {
    const luck: LuckCase = find(NO_OPS, 'luck of 5 %, typical')
    const tally = playMany(200, seeded(luck.name), { play: random => playLuck(luck, random) })
    expect(per(tally, 'gained')).toBeGreaterThan(0.06)
    expect(per(tally, 'kept')).toBeLessThanOrEqual(0.04)
  })
})
