import { describe, expect, it } from 'vitest'
import { AWKWARD } from '../../../bench/decide/awkward.ts'
import { WINNOW } from '../../../bench/decide/rules.ts'
import { atLeast, atMost, shareOf } from './a-share.ts'

const PLAYS = 60

function shareKept(name: string, effect: number): number {
  const scenario = AWKWARD.find(each => each.name === name)
  if (scenario === undefined) throw new Error(`no noise ${name}`)
  return shareOf(
    PLAYS,
    `${name} ${effect}`,
    random => WINNOW.decide({ world: { scenario, random, byRunner: 0 }, effect }).kept,
  )
}

describe.each(['two speeds, 30 % apart', 'first run of a pair +10 %', 'clock in steps of 10 %'])(
  'under %s',
  name => {
    it('a gain of 5 % is kept in 80 %', () => {
      expect(shareKept(name, 0.05)).toBeGreaterThanOrEqual(atLeast(0.8, PLAYS))
    })

    it('a gain as large as what the machine does is kept', () => {
      expect(shareKept(name, 0.3)).toBeGreaterThanOrEqual(atLeast(0.97, PLAYS))
    })

    it('at most alpha of what does nothing is kept', () => {
      expect(shareKept(name, 0)).toBeLessThanOrEqual(atMost(0.01, PLAYS))
    })
  },
)
