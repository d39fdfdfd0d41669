import { describe, expect, it } from 'vitest'
import { calibrateNoise, estimateSuiteNoise } from '../../src/decide/calibration.ts'
import { aReport, aSpec, run } from './a-spec.ts'
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

describe('one pass of a suite', () => {
  const spec = aSpec({
    metric: { primary: { type: 'loss', name: 'loss', direction: 'minimize' } },
    evidence: { scale: 'linear', min_effect: 0.02 },
  })
  const pass = (runs: readonly [task: string, loss: number][]) =>
    aReport(runs.map(([task, loss]) => run('base', { loss }, { task })))

  it('shows how much pairs will differ, whatever the tasks differ by', () => {
    const found = estimateSuiteNoise(
      spec,
      pass([
        ['a', 0.4],
        ['b', 0.9],
        ['a', 0.5],
        ['b', 0.8],
      ]),
    )
    expect(found).toMatchObject({
      scale: 'linear',
      noise: { pair_sd: expect.closeTo(0.1, 9), pair_sd_upper90: null, pairs: 4 },
    })
  })

  it('shows nothing where no task ran twice', () => {
    expect(
      estimateSuiteNoise(
        spec,
        pass([
          ['a', 0.4],
          ['b', 0.9],
        ]),
      ),
    ).toBeNull()
  })
})
