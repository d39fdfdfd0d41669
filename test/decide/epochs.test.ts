import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  computeMean,
  computeSpread,
  type Epoch,
  type EpochRules,
  foldEpochs,
} from '../../src/decide/epochs.ts'

const rules: EpochRules = {
  count: 10,
  baseline: 3,
  learning_rate: 0.5,
  rollback_on_regression: true,
  recover: 3,
  compat: null,
  direction: 'minimize',
}
const awp: EpochRules = { ...rules, baseline: 0, compat: 'awp' }

function unchanged(mean: number | null, tree = 'v0'): Epoch {
  return { mean, tree, update: null }
}

function updated(mean: number | null, tree = 'v1', replaced = 'v0'): Epoch {
  return { mean, tree, update: { id: `exp-${tree}`, replaced } }
}

describe('the worked trace of AWP', () => {
  const first = computeMean([0.4, 0.53, 0.31])

  it('goes on at the same rate after 0.413 -> 0.343', () => {
    const second = computeMean([0.045, 0.62, 0.365])
    expect([first.toFixed(3), second.toFixed(3)]).toEqual(['0.413', '0.343'])
    const steps = foldEpochs(awp, [unchanged(first), updated(second)])
    expect(steps).toEqual([
      { number: 1, limit: null, regressed: false, rollBack: null, learningRate: 0.5, next: 'propose' },
      { number: 2, limit: first, regressed: false, rollBack: null, learningRate: 0.5, next: 'propose' },
    ])
  })

  it('rolls back after 0.413 -> 0.48, halves the rate, and measures before it asks again', () => {
    const steps = foldEpochs(awp, [unchanged(first), updated(0.48), unchanged(first)])
    expect(steps.slice(1)).toEqual([
      { number: 2, limit: first, regressed: true, rollBack: 'exp-v1', learningRate: 0.25, next: 'measure' },
      { number: 3, limit: null, regressed: false, rollBack: null, learningRate: 0.25, next: 'propose' },
    ])
  })

  it('compares with the epoch before it, without a band, and never restores the rate', () => {
    const steps = foldEpochs(awp, [
      unchanged(0.4),
      updated(0.401, 'v1'),
      unchanged(0.45),
      updated(0.44, 'v2'),
      ...Array.from({ length: 5 }, (_, at) => updated(0.43 - at / 100, `v${at + 3}`)),
    ])
    expect(steps.map(({ rollBack }) => rollBack !== null)).toEqual([
      false,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
    expect(steps.at(-1)?.learningRate).toBe(0.25)
  })

  it('takes the same losses in another order for the same mean', () => {
    const [one, other] = [computeMean([0.1, 0.2, 0.3]), computeMean([0.3, 0.2, 0.1])]
    expect(one).toBeGreaterThan(other)
    expect(foldEpochs(awp, [unchanged(other), updated(one)]).at(-1)?.regressed).toBe(false)
    expect(computeSpread([one, other, one])?.sd).toBe(0)
  })

  it('may roll back in the last epoch, and asks no more there', () => {
    const steps = foldEpochs({ ...awp, count: 2 }, [unchanged(0.4), updated(0.5)])
    expect(steps.at(-1)).toMatchObject({ rollBack: 'exp-v1', next: 'end' })
  })

  it('does not compare a missing mean, and without rollback keeps rate and update', () => {
    expect(foldEpochs(awp, [unchanged(0.4), updated(null)]).at(-1)?.regressed).toBe(false)
    const kept = foldEpochs({ ...awp, rollback_on_regression: false }, [unchanged(0.4), updated(0.5)])
    expect(kept.at(-1)).toMatchObject({ regressed: true, rollBack: null, learningRate: 0.5, next: 'propose' })
  })
})

describe('epochs with a noise band', () => {
  const baseline = [unchanged(0.4), unchanged(0.42), unchanged(0.38)]

  it('measure the start first, and then ask', () => {
    const steps = foldEpochs(rules, baseline)
    expect(steps.map(({ number, next }) => [number, next])).toEqual([
      [0, 'measure'],
      [0, 'measure'],
      [0, 'propose'],
    ])
  })

  it('let an update stay that is worse within the band, and roll back one that is worse beyond it', () => {
    // sd 0.02, t(2) 2.92, one pass against the mean of three: 0.4 + 2.92 * 0.02 * sqrt(4/3)
    const limit = 0.4 + 2.92 * 0.02 * Math.sqrt(4 / 3)
    const [inside] = foldEpochs(rules, [...baseline, updated(0.46)]).slice(-1)
    expect(inside?.limit).toBeCloseTo(limit, 12)
    expect(inside).toMatchObject({ number: 1, regressed: false, next: 'propose' })
    const [beyond] = foldEpochs(rules, [...baseline, updated(0.468)]).slice(-1)
    expect(beyond).toMatchObject({ rollBack: 'exp-v1', learningRate: 0.25, next: 'measure' })
  })

  it('compare with the tree that the update replaced, also after a rollback', () => {
    const steps = foldEpochs(rules, [...baseline, updated(0.9), unchanged(0.4), updated(0.5, 'v2')])
    expect(steps.map(({ rollBack }) => rollBack)).toEqual([null, null, null, 'exp-v1', null, 'exp-v2'])
    expect(steps.at(-1)).toMatchObject({ learningRate: 0.125 })
    expect(steps.at(-1)?.limit).toBeCloseTo(0.4 + 2.92 * 0.02 * Math.sqrt(5 / 4), 12)
  })

  it('restore the rate after `recover` epochs without a regression', () => {
    const good = Array.from({ length: 3 }, () => unchanged(0.4))
    const steps = foldEpochs(rules, [...baseline, updated(0.9), ...good])
    expect(steps.slice(3).map(({ learningRate }) => learningRate)).toEqual([0.25, 0.25, 0.25, 0.5])
  })

  it('count a missing mean after an update as a regression', () => {
    expect(foldEpochs(rules, [...baseline, updated(null)]).at(-1)?.rollBack).toBe('exp-v1')
  })

  it('turn around for a metric to maximize', () => {
    const up = { ...rules, direction: 'maximize' } as const
    expect(foldEpochs(up, [...baseline, updated(0.33)]).at(-1)?.rollBack).toBe('exp-v1')
    expect(foldEpochs(up, [...baseline, updated(0.5)]).at(-1)?.rollBack).toBeNull()
  })

  it('judge no update without a spread', () => {
    expect(computeSpread([0.4])).toBeNull()
    expect(computeSpread([0.4, null])).toBeNull()
    expect(foldEpochs({ ...rules, baseline: 0 }, [unchanged(0.4), updated(9)]).at(-1)?.regressed).toBe(false)
  })
})

const anEpoch: fc.Arbitrary<Epoch> = fc.record({
  mean: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
  tree: fc.constantFrom('a', 'b', 'c'),
  update: fc.option(fc.record({ id: fc.uuid(), replaced: fc.constantFrom('a', 'b', 'c') })),
})
const someRules: fc.Arbitrary<EpochRules> = fc.record({
  count: fc.integer({ min: 1, max: 20 }),
  baseline: fc.integer({ min: 0, max: 4 }),
  learning_rate: fc.double({ min: 0.01, max: 1, noNaN: true }),
  rollback_on_regression: fc.boolean(),
  recover: fc.integer({ min: 1, max: 4 }),
  compat: fc.constantFrom(null, 'awp' as const),
  direction: fc.constantFrom('minimize' as const, 'maximize' as const),
})

describe('whatever the epochs were', () => {
  it('only the update that an epoch measured is rolled back, once, and never without the flag', () => {
    fc.assert(
      fc.property(someRules, fc.array(anEpoch, { maxLength: 25 }), (any, epochs) => {
        const steps = foldEpochs(any, epochs)
        expect(steps).toHaveLength(epochs.length)
        steps.forEach(({ rollBack, regressed, next }, index) => {
          if (rollBack === null) return
          expect(rollBack).toBe(epochs[index]?.update?.id)
          expect([regressed, any.rollback_on_regression]).toEqual([true, true])
          expect(next).not.toBe('propose')
        })
        const rolled = steps.flatMap(step => step.rollBack ?? [])
        expect(new Set(rolled).size).toBe(rolled.length)
      }),
    )
  })

  it('the rate stays above 0 and at most its start, and only a rollback lowers it', () => {
    fc.assert(
      fc.property(someRules, fc.array(anEpoch, { maxLength: 25 }), (any, epochs) => {
        let before = any.learning_rate
        for (const { learningRate, rollBack } of foldEpochs(any, epochs)) {
          expect(learningRate).toBeGreaterThan(0)
          expect(learningRate).toBeLessThanOrEqual(any.learning_rate)
          if (rollBack !== null) expect(learningRate).toBe(before / 2)
          else if (learningRate !== before)
            expect([learningRate, any.compat]).toEqual([any.learning_rate, null])
          before = learningRate
        }
      }),
    )
  })
})
