import { describe, expect, it } from 'vitest'
import { calibrateNoise } from '../../src/decide/calibration.ts'
import { aReport, aSpec } from './a-spec.ts'
import { aJob, gainsOf } from './paired/a-case.ts'

describe('a calibration', () => {
  const spec = aSpec()
  const { name } = spec.metric.primary
  const job = (order: string, gain: number, pairs: number) => aJob(order, gainsOf(name, gain, pairs))
  const judged = (...jobs: ReturnType<typeof job>[]) => calibrateNoise(spec, aReport([]), jobs)

  it('is repeated before a harness is called unfair', () => {
    const biased = [job('a', 0.1, 8), job('b', 0.1, 8)]
    expect(judged(...biased)).toHaveProperty('suspected')
    expect(judged(...biased, job('c', 0.1, 8), job('d', 0.1, 8))).toHaveProperty('refused')
    expect(judged(...biased, job('c', 0, 8), job('d', 0, 8))).toHaveProperty('noise')
  })

  it('without pairs clears no harness', () => {
    const [none, other] = [job('a', 0, 0), job('b', 0, 0)]
    expect(judged(none, other, job('c', 0.1, 8), job('d', 0.1, 8))).toHaveProperty('refused')
    expect(judged(job('c', 0.1, 8), job('d', 0.1, 8), none, other)).toHaveProperty('refused')
    expect(judged(none, other, job('c', 0, 8), job('d', 0, 8))).toHaveProperty('noise')
  })
})
