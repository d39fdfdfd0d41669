import { describe, expect, it } from 'vitest'
import { seeded } from '../../../bench/decide/random.ts'
import type { MetricMeasure } from '../../../src/decide/evidence/rank-test.ts'
import {
  countNeededRuns,
  estimateMeanEffect,
  type JobPairs,
  judgeSlowRuns,
  type MeasuredPair,
  type SlowRunsVerdict,
} from '../../../src/decide/evidence/slow-runs.ts'

const TIME: MetricMeasure = { direction: 'minimize', scale: 'log' }
const RATE: MetricMeasure = { direction: 'maximize', scale: 'log' }
const SIZE: MetricMeasure = { direction: 'minimize', scale: 'linear' }

/** Pairs of 100 against 95, give or take 1 %; by number, runs that take longer. */
function pairs(count: number, slow: { base?: readonly number[]; candidate?: readonly number[] } = {}) {
  return Array.from({ length: count }, (_, at): MeasuredPair => {
    const wiggle = 1 + (((at * 37) % 101) - 50) / 5_000
    const factor = (side: 'base' | 'candidate') => (slow[side]?.includes(at) === true ? 3 : 1)
    return { base: 100 * factor('base'), candidate: 95 * wiggle * factor('candidate') }
  })
}

function judge(job: JobPairs, rest: { measure?: MetricMeasure; lost?: number } = {}): SlowRunsVerdict {
  return judgeSlowRuns({ jobs: [job], measure: TIME, lost: 0, share: 0.05, ...rest })
}

describe('slow runs of a change whose median is 5 % better', () => {
  it('are not excluded by a few runs, and are by as many as would have shown them', () => {
    expect(countNeededRuns(0.05)).toBe(96)
    expect(judge(pairs(95))).toEqual({ is: 'open', needed: 96 })
    expect(judge(pairs(96))).toEqual({ is: 'harmless', needed: 96 })
  })

  it('eat its gain where the base has none like them', () => {
    expect(judge(pairs(96, { candidate: [5, 40, 70, 80] })).is).toBe('slower')
    // Where both sides have a few, all of three are often the candidate's.
    expect(judge(pairs(96, { candidate: [5, 40, 70] })).is).toBe('open')
    expect(judge(pairs(150, { candidate: [5, 40, 70, 120] })).is).toBe('slower')
  })

  it('may be chance where there is one, which more runs show', () => {
    expect(judge(pairs(96, { candidate: [5] }))).toEqual({ is: 'open', needed: 240 })
    expect(judge(pairs(150, { candidate: [5] })).is).toBe('harmless')
  })

  it('do not count against it where the base has as many', () => {
    expect(judge(pairs(96, { candidate: [5, 40, 70], base: [8, 30, 60] })).is).toBe('shared')
  })

  it('count beside those of the base where they are many more', () => {
    const many = [1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56]
    expect(judge(pairs(96, { candidate: many, base: [8] })).is).toBe('slower')
  })

  it('may hide in pairs that were lost', () => {
    expect(judge(pairs(96), { lost: 4 }).is).toBe('slower')
    expect(judge(pairs(96), { lost: 1 }).is).toBe('open')
  })
})

describe('a gain so large that slow runs do not eat it', () => {
  it('needs fewer runs', () => {
    const half = pairs(20).map(({ base, candidate }) => ({ base, candidate: candidate / 2 }))
    expect(judge(half)).toMatchObject({ is: 'harmless' })
    expect(judge(half).needed).toBeLessThan(12)
  })
})

describe('other metrics', () => {
  it('a rate drops to a third in a slow run', () => {
    const rates = (all: JobPairs) =>
      all.map(({ base, candidate }) => ({ base: 1 / base, candidate: 1 / candidate }))
    expect(judge(rates(pairs(96)), { measure: RATE }).is).toBe('harmless')
    const slow = [5, 20, 40, 55, 70, 80, 90, 95]
    expect(judge(rates(pairs(96, { candidate: slow })), { measure: RATE }).is).toBe('slower')
  })

  it('a linear one is compared in its own units, around 0 too', () => {
    const below = (all: JobPairs) =>
      all.map(({ base, candidate }) => ({ base: base - 100, candidate: candidate - 100 }))
    expect(judge(pairs(96), { measure: SIZE }).is).toBe('harmless')
    expect(judge(pairs(96, { candidate: [5, 40, 70, 80] }), { measure: SIZE }).is).toBe('slower')
    expect(judge(below(pairs(96, { candidate: [5, 40, 70, 80] })), { measure: SIZE }).is).toBe('slower')
  })
})

describe('whatever is measured', () => {
  const random = seeded('slow runs')
  const draw = (): MeasuredPair[] =>
    Array.from({ length: 96 + Math.floor(80 * random.fraction()) }, () => {
      const noise = () => Math.exp(0.05 * Math.tan(Math.PI * (random.fraction() - 0.5)) * 0.2)
      return { base: 10 * noise(), candidate: 9.5 * noise() }
    })

  it('the unit of the metric does not matter', () => {
    for (let play = 0; play < 40; play++) {
      const all = draw()
      const scaled = all.map(({ base, candidate }) => ({ base: 1024 * base, candidate: 1024 * candidate }))
      expect(judge(scaled)).toEqual(judge(all))
    }
  })

  it('a slower run of the candidate never makes it harmless, and one of the base never makes it slower', () => {
    for (let play = 0; play < 40; play++) {
      const all = draw()
      const at = Math.floor(random.fraction() * all.length)
      const change = (side: 'base' | 'candidate') =>
        all.map((pair, each) => (each === at ? { ...pair, [side]: 60 } : pair))
      if (judge(all).is !== 'harmless') expect(judge(change('candidate')).is).not.toBe('harmless')
      if (judge(all).is !== 'slower') expect(judge(change('base')).is).not.toBe('slower')
    }
  })

  it('two sides that behave alike are rarely called slower, however heavy the tails', () => {
    let slower = 0
    for (let play = 0; play < 200; play++) if (judge(draw()).is === 'slower') slower += 1
    expect(slower).toBeLessThanOrEqual(10)
  })
})

describe('the estimate of the mean', () => {
  it('is the ratio of the means, with every run in it', () => {
    const [job] = [pairs(100, { candidate: [0, 20, 40, 60, 80] })]
    const estimate = estimateMeanEffect([job], TIME)
    expect(estimate?.mean).toBeCloseTo(-Math.log(0.95 * 1.1), 2)
    expect(estimate?.worst).toBeGreaterThan(0)
    const worse = estimateMeanEffect([pairs(100, { candidate: [0, 10, 20, 40, 60, 80] })], TIME)
    expect(worse?.worst).toBeCloseTo(-Math.log(0.95 * 3), 1)
  })

  it('gives every job the same weight, however slow its machine is', () => {
    const slow = pairs(10).map(({ base, candidate }) => ({
      base: 50 * base,
      candidate: 50 * candidate * 1.1,
    }))
    const mean = estimateMeanEffect([pairs(10), slow], TIME)?.mean ?? NaN
    expect(mean).toBeCloseTo(0.05 - Math.log(1.1) / 2, 1)
    expect(Math.abs(mean)).toBeLessThan(0.02)
  })

  it('is null without a pair', () => {
    expect(estimateMeanEffect([], TIME)).toBeNull()
    expect(estimateMeanEffect([[]], TIME)).toBeNull()
  })
})
