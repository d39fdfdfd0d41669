import { describe, expect, test } from 'vitest'
import { calibrateHarness } from '../../src/decide/calibration.ts'
import type { Execution, Report } from '../../src/model/report.ts'
import { aReport, aSpec, gateRun, run } from './a-spec.ts'

function runs(...metrics: Execution['metrics'][]): Execution[] {
  return metrics.map((values, index) => run('base', values, { seed: index + 1, build: index === 0 ? 0 : 1 }))
}

const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
const spec = aSpec()
const of = (executions: Execution[], rest: Partial<Report> = {}) =>
  calibrateHarness(spec, aReport(executions, rest))

describe('calibration', () => {
  test('equal values for all seeds and builds are deterministic', () => {
    expect(of(runs({ bytes: 7 }, { bytes: 7 }, { bytes: 7 }))).toEqual({
      deterministic: true,
      failed: false,
      scale: 'log',
      reason: 'equal in 3 runs with different seeds and builds',
      values: { bytes: [7, 7, 7] },
    })
  })

  test('counts that differ a little have a tolerance of three times what six runs show', () => {
    const counted = aSpec({ metric: { primary: { ...primary, name: 'instructions' } } })
    const calibrate = (...counts: number[]) =>
      calibrateHarness(counted, aReport(runs(...counts.map(count => ({ instructions: count })))))
    const near = calibrate(233_000_000, 233_000_466, 233_000_000, 233_000_000, 233_000_000, 233_000_000)
    expect(near).toMatchObject({ deterministic: true, failed: false })
    expect(near.tolerance).toBeCloseTo(6e-6, 9)
    expect(near.reason).toBe(
      'nearly: counts differ by less than 0.0006 %, which counts as no difference, in 6 runs with different seeds and builds',
    )
    const same = calibrate(5, 5, 5, 5, 5, 5)
    expect([same.deterministic, same.tolerance]).toEqual([true, undefined])
    expect(calibrate(1000, 1002, 1000, 1000, 1000, 1000).deterministic).toBe(false)
    expect(calibrate(1_000_000, 1_000_001, 1_000_000).deterministic).toBe(false)
    const oneBuild = runs(...[0, 1, 0, 0, 0, 0].map(more => ({ instructions: 1_000_000 + more })))
    const alike = aReport(oneBuild.map(each => ({ ...each, build: 0 })))
    expect(calibrateHarness(counted, alike)).toMatchObject({
      deterministic: false,
      reason: 'not proven for two seeds and two builds',
    })
  })

  test('any spread is noise, however small', () => {
    const found = of(runs({ bytes: 7 }, { bytes: 7 }, { bytes: 7.001 }))
    expect(found).toMatchObject({
      deterministic: false,
      failed: false,
      reason: 'bytes varies from 7 to 7.001',
    })
  })

  test.each([
    ['a required objective', { metric: { primary, objectives: [{ name: 'x', direction: 'minimize' }] } }],
    [
      'a guardrail',
      { metric: { primary, objectives: [{ name: 'x', direction: 'minimize', role: 'guardrail' }] } },
    ],
    ['a tie-breaker', { policy: { tie_breakers: [{ lower: 'x' }] } }],
  ])('the spread of %s counts', (_, raw) => {
    const report = aReport(runs({ bytes: 7, x: 1 }, { bytes: 7, x: 1 }, { bytes: 7, x: 2 }))
    expect(calibrateHarness(aSpec(raw), report)).toMatchObject({ deterministic: false, failed: false })
  })

  test('the spread of other metrics does not count', () => {
    expect(of(runs({ bytes: 7, wall_seconds: 1 }, { bytes: 7, wall_seconds: 2 })).deterministic).toBe(true)
    const logged = aSpec({
      metric: { primary, objectives: [{ name: 'x', direction: 'minimize', role: 'secondary' }] },
    })
    expect(
      calibrateHarness(logged, aReport(runs({ bytes: 7, x: 1 }, { bytes: 7, x: 2 }))).deterministic,
    ).toBe(true)
  })

  test.each(['wall_seconds', 'cpu_seconds', 'max_rss_mb'])('%s is never deterministic', name => {
    const timed = aSpec({ metric: { primary: { ...primary, name } } })
    expect(calibrateHarness(timed, aReport(runs({ [name]: 7 }, { [name]: 7 })))).toMatchObject({
      deterministic: false,
      failed: false,
    })
  })

  test('one seed or one build proves nothing', () => {
    const sameSeed = runs({ bytes: 7 }, { bytes: 7 }).map(one => ({ ...one, seed: 1 }))
    const sameBuild = runs({ bytes: 7 }, { bytes: 7 }).map(one => ({ ...one, build: 0 }))
    expect(of(sameSeed).deterministic).toBe(false)
    expect(of(sameBuild).deterministic).toBe(false)
    expect(of(runs({ bytes: 7 })).deterministic).toBe(false)
  })

  test.each([
    [[1, 2], 'log'],
    [[0, 2], 'linear'],
    [[-1, 2], 'linear'],
  ])('values %j are judged on a %s scale', (values, scale) => {
    expect(of(runs(...values.map(bytes => ({ bytes })))).scale).toBe(scale)
  })

  test('the spec’s own scale wins, and log needs values above 0', () => {
    const own = (scale: string) => aSpec({ evidence: { scale } })
    const report = aReport(runs({ bytes: 0 }, { bytes: 0 }))
    expect(calibrateHarness(own('linear'), aReport(runs({ bytes: 1 }, { bytes: 1 }))).scale).toBe('linear')
    expect(calibrateHarness(own('log'), aReport(runs({ bytes: 1 }, { bytes: 1 })))).toMatchObject({
      failed: false,
      scale: 'log',
    })
    expect(calibrateHarness(own('auto'), report).failed).toBe(false)
    expect(calibrateHarness(own('log'), report)).toMatchObject({ failed: true, deterministic: false })
  })

  test.each([
    [
      'a failing gate',
      { gates: [gateRun('base', 'tests', { passed: false, exit_code: 1 })] },
      'gate tests failed (exit 1)',
    ],
    ['a failed runner', { runner_error: 'no disk' }, 'the runner failed: no disk'],
    [
      'a crash',
      { executions: runs({ bytes: 1 }, {}).map(one => ({ ...one, status: 'crashed' as const })) },
      'crashed',
    ],
    ['a missing metric', { executions: runs({ bytes: 1 }, { bytes: null }) }, 'missing metric: bytes'],
    ['no run at all', { executions: [] }, 'no run of the base'],
  ])('%s fails it', (_, rest, reason) => {
    const found = of(runs({ bytes: 7 }, { bytes: 7 }), rest)
    expect(found).toMatchObject({ failed: true, deterministic: false })
    expect(found.reason).toContain(reason)
    if (found.values['bytes']?.length === 0) expect(found.scale).toBe('linear')
  })
})
