import { describe, expect, it } from 'vitest'
import { formatEffect, toShare } from '../../../src/decide/paired/effect-text.ts'

const LOWER = { name: 'bytes', direction: 'minimize', scale: 'log' } as const
const TIME = { name: 'wall_seconds', direction: 'minimize', scale: 'log' } as const
const SCORE = { name: 'score', direction: 'maximize', scale: 'linear' } as const

describe('an effect in words', () => {
  it('is the share by which the value changes, with the word for its direction', () => {
    expect(formatEffect(-Math.log(0.9), null, LOWER)).toBe('bytes 10.0 % lower')
    expect(formatEffect(Math.log(0.9), null, LOWER)).toBe('bytes 11.1 % higher')
    expect(formatEffect(-Math.log(0.9), null, TIME)).toBe('wall_seconds 10.0 % faster')
    expect(formatEffect(0.25, null, SCORE)).toBe('score 0.25 higher')
    expect(formatEffect(-0.25, null, SCORE)).toBe('score 0.25 lower')
  })

  it('has the interval in the same direction as the estimate', () => {
    expect(formatEffect(0.05, [0.01, 0.1], TIME)).toBe('wall_seconds 4.9 % faster (1.0 to 9.5 %)')
    expect(formatEffect(-0.05, [-0.1, 0.01], TIME)).toBe('wall_seconds 5.1 % slower (-1.0 to 10.5 %)')
    expect(formatEffect(-0.5, [-1, 0.25], SCORE)).toBe('score 0.5 lower (-0.25 to 1)')
  })

  it('of zero has no sign', () => {
    expect(formatEffect(-0.0001, [-0.0002, 0.0001], TIME)).toBe('wall_seconds 0.0 % slower (0.0 to 0.0 %)')
    expect(formatEffect(0.0001, [-0.0002, 0.0002], TIME)).toBe('wall_seconds 0.0 % faster (0.0 to 0.0 %)')
  })

  it('reads a value that grew many times over as a factor', () => {
    const by = (factor: number) => -Math.log(factor)
    expect(formatEffect(by(14.2), [by(21.2), by(9.1)], TIME)).toBe('wall_seconds 14.2x slower (9.1 to 21x)')
    expect(formatEffect(by(1.5), [by(6), by(0.8)], TIME)).toBe('wall_seconds 1.5x slower (0.80 to 6.0x)')
    expect(formatEffect(by(1.8), [by(2.4), by(1.1)], TIME)).toBe(
      'wall_seconds 80.0 % slower (10.0 to 140.0 %)',
    )
    expect(formatEffect(Math.log(4), null, TIME)).toBe('wall_seconds 75.0 % faster')
  })

  it('states the closed end of an open interval', () => {
    expect(formatEffect(-2.5, null, TIME, { upper: -1.2 })).toBe(
      'wall_seconds 12.2x slower (at least 3.3x slower)',
    )
    expect(formatEffect(0.001, null, TIME, { upper: 0.004 })).toBe(
      'wall_seconds 0.1 % faster (at most 0.4 % faster)',
    )
  })

  it('a gain of the whole value is a share of 1', () => {
    expect(toShare(Infinity, 'minimize')).toBe(1)
    expect(toShare(Math.log(2), 'maximize')).toBeCloseTo(1)
  })
})
