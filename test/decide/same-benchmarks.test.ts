import { describe, expect, it } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import { calibrateHarness } from '../../src/decide/calibration.ts'
import type { StopRule } from '../../src/model/order.ts'
import type { Execution, Side, Snapshot } from '../../src/model/report.ts'
import { anOrder, aReport, aSpec, gateRun, run } from './a-spec.ts'

const label = 'exp-001'
const once: StopRule = { rule: 'once', min_effect: 0, scale: 'log' }

function spec(output = 'go', measurement: object = {}) {
  return aSpec({
    metric: { primary: { type: 'hard', name: 'geomean_ns', direction: 'minimize' } },
    measurement: { output, ...measurement },
  })
}

/** One execution, with the mean as an adapter tells it. */
function ran(side: Side, values: Record<string, number>, rest: Partial<Execution> = {}): Execution {
  const logs = Object.values(values).map(Math.log)
  const mean = Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length)
  const each = Object.fromEntries(Object.entries(values).map(([name, ns]) => [`${name}.ns`, ns]))
  return run(side, { wall_seconds: 1, benchmarks: logs.length, geomean_ns: mean, ...each }, rest)
}

function verdict(
  executions: Execution[],
  stop: StopRule = once,
  output = 'go',
  stored: Snapshot | null = null,
) {
  const asked = spec(output, stop.rule === 'stability' ? { stability: { mode: 'stable' } } : {})
  const gates = asked.gates.map(({ name }) => gateRun(label, name))
  const { outcome, retry, reason } = assessCandidate({
    spec: asked,
    order: anOrder(stop),
    report: aReport(executions, { gates }),
    label,
    baseline: stored,
  })
  return { outcome, retry, reason }
}

const BASE = { parse: 10, render: 1000 }

describe('a candidate that lost its slowest benchmark', () => {
  it('is an error that names it, despite a better mean', () => {
    const runs = [ran('base', BASE), ran(label, { parse: 10 })]
    expect(
      verdict([
        ...runs,
        ran('base', BASE, { role: 'repeat' }),
        ran(label, { parse: 10 }, { role: 'repeat' }),
      ]),
    ).toEqual({
      outcome: 'error',
      retry: false,
      reason: 'the benchmarks differ from those of the base: render.ns is missing',
    })
  })

  it('is an error in any of its executions, whichever side ran first', () => {
    const { outcome, reason } = verdict([
      ran(label, { parse: 1, render: 1 }),
      ran('base', BASE),
      ran(label, { parse: 1 }, { role: 'repeat' }),
      ran('base', BASE, { role: 'repeat' }),
    ])
    expect([outcome, reason]).toEqual(['error', expect.stringContaining('render.ns is missing')])
  })

  it('is described with a few names', () => {
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`b${at}`, 10]))
    const { reason } = verdict([ran('base', many), ran(label, { b0: 10, other: 1 })])
    expect(reason).toBe(
      'the benchmarks differ from those of the base: b1.ns, b10.ns, b100.ns and 296 more are missing; other.ns is new',
    )
  })

  it('is an error against a stored score too', () => {
    const stored = { metrics: { benchmarks: 2, geomean_ns: 100, 'parse.ns': 10, 'render.ns': 1000 } }
    const byStability: StopRule = { rule: 'stability', baseline: stored }
    expect(verdict([ran(label, { parse: 10 })], byStability)).toMatchObject({
      outcome: 'error',
      reason: 'the benchmarks differ from those of the base: render.ns is missing',
    })
    expect(verdict([ran(label, { parse: 1, render: 100 })], byStability).outcome).toBe('eligible')
  })
})

describe('a candidate with a benchmark of its own', () => {
  it('is an error: its mean is another mean', () => {
    expect(verdict([ran('base', BASE), ran(label, { ...BASE, easy: 0.1 })])).toMatchObject({
      outcome: 'error',
      reason: 'the benchmarks differ from those of the base: easy.ns is new',
    })
  })
})

describe('the same benchmarks', () => {
  const better = { parse: 5, render: 500 }

  it('are compared, whatever order they are in', () => {
    const turned = Object.fromEntries(Object.entries(better).toReversed())
    const runs = [
      ran('base', BASE),
      ran(label, turned),
      ran('base', BASE, { role: 'repeat' }),
      ran(label, turned, { role: 'repeat' }),
    ]
    expect(verdict(runs).outcome).toBe('eligible')
  })

  it('exclude built-in metrics and failed executions', () => {
    const { cpu_seconds: _, ...metrics } = { ...ran(label, better).metrics, cpu_seconds: 1 }
    const runs = [ran('base', BASE), { ...ran(label, better), metrics }]
    expect(verdict(runs).reason).not.toContain('benchmarks')
    expect(verdict([ran('base', BASE), run(label, {}, { status: 'crashed' })]).reason).toContain('crashed')
  })

  it('are required only of benchmark formats', () => {
    expect(verdict([ran('base', BASE), ran(label, { parse: 10 })], once, 'json').reason).not.toContain(
      'benchmarks',
    )
  })
})

describe('a base that does not report the same benchmarks twice', () => {
  it('is not blamed on a candidate, and cannot start a campaign', () => {
    const base = [ran('base', BASE), ran('base', { parse: 10 }, { role: 'repeat' })]
    expect(verdict([...base, ran(label, BASE)])).toMatchObject({
      retry: true,
      reason: 'the base itself varies: render.ns is missing',
    })
    const { failed, reason } = calibrateHarness(spec(), aReport(base))
    expect([failed, reason]).toEqual([true, expect.stringContaining('render.ns is missing')])
  })
})
