import { describe, expect, test } from 'vitest'
import type { Execution } from '../../src/model/report.ts'
import { findIgnoringCommands, readProbes } from '../../src/probes/read-probes.ts'
import { anOrder, aReport, aSpec, gateRun, run, setUp } from '../decide/a-spec.ts'

const label = 'probe-slow-clock'
const TREE = { head: 'c'.repeat(40), tree: 'd'.repeat(40) }
const spec = aSpec({ metric: { primary: { name: 'ms', direction: 'minimize' } } })

/** What stops the probe whose first and second runs print these numbers, beside those of the base. */
function readSlowClock(base: [number, number], probe: [number, number]): string | null | undefined {
  const order = anOrder({ rule: 'once', min_effect: 0.2, scale: 'log', noisy: true })
  const executions = [
    run('base', { ms: base[0] }),
    run(label, { ms: probe[0] }),
    run('base', { ms: base[1] }, { role: 'repeat' }),
    run(label, { ms: probe[1] }, { role: 'repeat' }),
  ]
  const probing = { ...order, candidates: [{ label, ...TREE }] }
  return readProbes(spec, probing, aReport(executions))[0]?.caught_by
}

test('a slow clock shows a gain in every run against every run of the base', () => {
  expect(readSlowClock([100, 110], [11, 30])).toBe(null)
  expect(readSlowClock([100, 110], [75, 85])).toBe('no gain')
})

test('a machine that becomes faster meanwhile is no slow clock', () => {
  expect(readSlowClock([140, 100], [105, 75])).toBe('no gain')
})

type Printed = Execution['metrics']

interface VanishCase {
  primary?: { name: string; direction: 'minimize' | 'maximize' }
  /** What one run varies by; 0 for a metric that repeats exactly. */
  noise?: number
  /** Lines that the harness printed, with the code and without it. */
  lines?: [number, number]
}

/** The tests notice that every file is empty. The harness succeeds, and prints these numbers. */
function readVanish(
  base: Printed,
  without: Printed,
  { primary, noise = 0, lines = [1, 1] }: VanishCase = {},
) {
  const gated = aSpec({
    metric: { primary: primary ?? { name: 'ms', direction: 'minimize' } },
    gates: [{ name: 'tests', command: 'npm test' }],
  })
  const rule = { rule: 'once', min_effect: noise, scale: 'log' } as const
  const order = {
    ...anOrder(noise === 0 ? rule : { ...rule, noisy: true }),
    candidates: [{ label: 'probe-vanish' as const, ...TREE }],
  }
  const executions = [
    run('base', base, { printed_lines: lines[0] }),
    run('probe-vanish', without, { printed_lines: lines[1] }),
  ]
  const gates = [gateRun('probe-vanish', 'tests', { passed: false, exit_code: 1 }), gateRun('base', 'tests')]
  const results = readProbes(gated, order, aReport(executions, { gates }))
  return { caught_by: results[0]?.caught_by, ignored_by: findIgnoringCommands(gated, results) }
}

const IGNORED = { caught_by: null, ignored_by: ['node bench.mjs'] }
const READ = { caught_by: 'gate tests', ignored_by: null }

describe('a harness that succeeds without the code, which a gate misses', () => {
  test('does not use it where it prints the same', () => {
    expect(readVanish({ ms: 7 }, { ms: 7 })).toEqual(IGNORED)
    expect(readVanish({ ms: 7, answers: 'abc', p95: 9 }, { ms: 7, answers: 'abc', p95: 9.4 })).toEqual(
      IGNORED,
    )
  })

  test('does not use it where it takes as long', () => {
    const timed = { primary: { name: 'wall_seconds', direction: 'minimize' }, noise: 0.1 } as const
    const runs = [
      { wall_seconds: 0.2, cpu_seconds: 0.01 },
      { wall_seconds: 0.21, cpu_seconds: 0.02 },
    ] as const
    expect(readVanish(...runs, timed)).toEqual(IGNORED)
    expect(readVanish(...runs, { ...timed, lines: [3, 0] })).toEqual(READ)
    expect(readVanish({ wall_seconds: 0.2 }, { wall_seconds: 0.15 }, timed)).toEqual(READ)
  })

  test('uses it where anything else that it prints changes', () => {
    expect(readVanish({ ms: 7 }, { ms: 9 })).toEqual(READ)
    expect(readVanish({ ms: 7, answers: 133 }, { ms: 7, answers: 0 })).toEqual(READ)
    expect(readVanish({ ms: 7, answer: 'abc' }, { ms: 7, answer: '' })).toEqual(READ)
    expect(readVanish({ ms: 7, answers: 133 }, { ms: 7 })).toEqual(READ)
  })

  test('may use it where nothing scores yet', () => {
    const score = { primary: { name: 'score', direction: 'maximize' } } as const
    expect(readVanish({ score: 0 }, { score: 0 }, score)).toEqual(READ)
    expect(readVanish({ score: 3 }, { score: 3 }, score)).toEqual(IGNORED)
  })
})

describe('a harness that cannot be built without the code', () => {
  const exits = ['probe-exit-at-load', 'probe-exit-at-call'] as const
  const order = {
    ...anOrder({ rule: 'once', min_effect: 0, scale: 'log' }),
    candidates: (['probe-vanish', ...exits] as const).map(each => ({ label: each, ...TREE })),
  }
  const read = (load: Execution, call: Execution) => {
    const setups = [setUp('base', true), setUp('probe-vanish', false)]
    const results = readProbes(spec, order, aReport([run('base', { ms: 7 }), load, call], { setups }))
    return { caught_by: results[0]?.caught_by, ignored_by: findIgnoringCommands(spec, results) }
  }

  test('does not use it where it prints the same though the code ends at once', () => {
    expect(read(run(exits[0], { ms: 7 }), run(exits[1], { ms: 7 }))).toEqual(IGNORED)
  })

  test('uses it where one of them ends it or changes what it prints', () => {
    const found = { caught_by: 'set-up', ignored_by: null }
    expect(read(run(exits[0], { ms: 7 }), run(exits[1], {}, { status: 'bad-output' }))).toEqual(found)
    expect(read(run(exits[0], { ms: 3 }), run(exits[1], { ms: 7 }))).toEqual(found)
  })
})

test('a change is compared with min_effect in units of the metric where its scale is linear', () => {
  const order = {
    ...anOrder({ rule: 'once', min_effect: 5, scale: 'linear' }),
    candidates: [{ label: 'probe-vanish' as const, ...TREE }],
  }
  const read = (ms: number) =>
    readProbes(spec, order, aReport([run('base', { ms: 100 }), run('probe-vanish', { ms })]))[0]?.caught_by
  expect([read(103), read(120)]).toEqual([null, 'no gain'])
})
