import { describe, expect, it } from 'vitest'
import { effectText, shareOf } from '../../../src/decide/paired/effect-text.ts'

const LOWER = { name: 'bytes', direction: 'minimize', scale: 'log' } as const
const TIME = { name: 'wall_seconds', direction: 'minimize', scale: 'log' } as const
const SCORE = { name: 'score', direction: 'maximize', scale: 'linear' } as const

describe('an effect in words', () => {
  it('is the share by which the value changes, with the word for its direction', () => {
    expect(effectText(-Math.log(0.9), null, LOWER)).toBe('bytes 10.0 % lower')
    expect(effectText(Math.log(0.9), null, LOWER)).toBe('bytes 11.1 % higher')
    expect(effectText(-Math.log(0.9), null, TIME)).toBe('wall_seconds 10.0 % faster')
    expect(effectText(0.25, null, SCORE)).toBe('score 0.25 higher')
    expect(effectText(-0.25, null, SCORE)).toBe('score 0.25 lower')
  })

  it('has the interval the same way round as the estimate', () => {
    expect(effectText(0.05, [0.01, 0.1], TIME)).toBe('wall_seconds 4.9 % faster (1.0 to 9.5 %)')
    expect(effectText(-0.05, [-0.1, 0.01], TIME)).toBe('wall_seconds 5.1 % slower (-1.0 to 10.5 %)')
    expect(effectText(-0.5, [-1, 0.25], SCORE)).toBe('score 0.5 lower (-0.25 to 1)')
  })

  it('of nothing has no sign', () => {
    expect(effectText(-0.0001, [-0.0002, 0.0001], TIME)).toBe('wall_seconds 0.0 % slower (0.0 to 0.0 %)')
    expect(effectText(0.0001, [-0.0002, 0.0002], TIME)).toBe('wall_seconds 0.0 % faster (0.0 to 0.0 %)')
  })

  it('a gain of all there is is a share of 1', () => {
    expect(shareOf(Infinity, 'minimize')).toBe(1)
    expect(shareOf(Math.log(2), 'maximize')).toBeCloseTo(1)
  })
})
