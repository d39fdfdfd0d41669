import { describe, expect, test } from 'vitest'
import { assessCandidate } from '../../src/decide/assess.ts'
import type { StopRule } from '../../src/model/order.ts'
import type { Execution, Report, Snapshot } from '../../src/model/report.ts'
import type { Spec } from '../../src/spec/schema.ts'
import { anOrder, aReport, aSpec, ceSpec, gateRun, run, sampled, setUp, withMetrics } from './a-spec.ts'

const once: StopRule = { rule: 'once', min_effect: 0, scale: 'linear' }
const label = 'exp-001'

function better(): Execution[] {
  return (['sample', 'repeat'] as const).flatMap(role => [
    run('base', { bytes: 1200 }, { role }),
    run(label, { bytes: 1100 }, { role }),
  ])
}

function judge(
  rest: Partial<Report>,
  {
    spec = aSpec(),
    stop = once,
    baseline = null,
  }: { spec?: Spec; stop?: StopRule; baseline?: Snapshot | null } = {},
) {
  return assessCandidate({ spec, order: anOrder(stop), report: aReport(better(), rest), label, baseline })
}

function replaced(index: number, change: Partial<Execution>): Execution[] {
  return better().map((execution, at) => (at === index ? { ...execution, ...change } : execution))
}

describe('failures before any comparison', () => {
  test('an execution of the candidate that tampered is refused', () => {
    expect(judge({ tampered: { during: label, path: 'bench/run.mjs' } })).toMatchObject({
      outcome: 'refused',
      retry: false,
      reason: 'tampered: its execution changed bench/run.mjs',
    })
  })

  test.each(['base', 'exp-002'] as const)('tampering by %s is not held against the candidate', during => {
    expect(judge({ tampered: { during, path: 'x' } })).toMatchObject({ outcome: 'error', retry: true })
  })

  test('a failed runner gives no verdict', () => {
    expect(judge({ runner_error: 'disk full' })).toMatchObject({
      outcome: 'error',
      retry: true,
      failure_class: null,
      reason: 'the runner failed: disk full',
    })
  })

  test.each([
    ['both sides', [setUp('base', false), setUp(label, false)], { retry: true, failure_class: null }],
    ['the base', [setUp('base', false), setUp(label, true)], { retry: true, failure_class: null }],
    ['the candidate', [setUp('base', true), setUp(label, false)], { retry: false, failure_class: 'build' }],
  ] as const)('set-up failing on %s', (_, setups, expected) => {
    expect(judge({ setups: [...setups] })).toMatchObject({ outcome: 'error', ...expected })
  })

  test('another candidate’s failures are its own', () => {
    const found = judge({
      setups: [setUp('exp-002', false)],
      gates: [gateRun('exp-002', 'tests', { passed: false })],
      executions: [...better(), run('exp-002', {}, { status: 'crashed' })],
    })
    expect(found.outcome).toBe('eligible')
  })

  test('a failed command gate is degenerate and named', () => {
    const gates = [gateRun('base', 'tests'), gateRun(label, 'tests', { passed: false, exit_code: 3 })]
    expect(judge({ gates })).toMatchObject({
      outcome: 'degenerate',
      retry: false,
      failure_class: 'hypothesis',
      violated_objectives: ['tests'],
      reason: 'gate tests failed (exit 3)',
    })
  })

  test('a candidate that fails twice where the base failed too is not called broken', () => {
    const pairs: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'log', pairs: 4 }
    const crashed = (side: typeof label | 'base') => run(side, {}, { status: 'crashed', exit_code: 3 })
    const ran = [crashed('base'), crashed(label), run('base', { bytes: 9 }), crashed(label)]
    expect(judge({ executions: ran }, { stop: pairs })).toMatchObject({
      retry: true,
      reason:
        "executions failed on both sides, so they prove nothing about the candidate; the base's crashed (exit 3)",
    })
    const alone = [run('base', { bytes: 9 }), crashed(label), run('base', { bytes: 9 }), crashed(label)]
    expect(judge({ executions: alone }, { stop: pairs })).toMatchObject({ retry: false, outcome: 'error' })
  })

  test('a gate that timed out is degenerate', () => {
    const gates = [gateRun(label, 'tests', { passed: false, exit_code: null, timed_out: true })]
    expect(judge({ gates })).toMatchObject({ outcome: 'degenerate', reason: 'gate tests timed out' })
  })

  test('when the base fails its own gate, the candidate gets no verdict', () => {
    const gates = [gateRun('base', 'tests', { passed: false }), gateRun(label, 'tests', { passed: false })]
    const found = judge({ gates })
    expect(found).toMatchObject({ outcome: 'error', retry: true })
    expect(found.reason).toBe('gate tests failed (exit 0) on the base too, so exp-001 did not cause it')
  })

  test('a gate that did not run has not passed', () => {
    const spec = aSpec({ gates: [{ name: 'tests', command: 'npm test' }] })
    expect(judge({}, { spec })).toMatchObject({ outcome: 'error', retry: true })
    expect(judge({ gates: [gateRun(label, 'tests')] }, { spec }).outcome).toBe('eligible')
  })

  test.each([
    ['crashed', 'error'],
    ['bad-output', 'error'],
    ['score-failed', 'error'],
    ['timeout', 'timeout'],
  ] as const)('a candidate whose execution %s is %s', (status, outcome) => {
    expect(judge({ executions: replaced(1, { status }) })).toMatchObject({
      outcome,
      retry: false,
      failure_class: 'eval',
      rank_score: 0,
    })
  })

  test('a failing repeat counts like a failing sample', () => {
    expect(judge({ executions: replaced(3, { status: 'crashed', exit_code: 2 }) })).toMatchObject({
      outcome: 'error',
      reason: 'the harness crashed (exit 2)',
    })
  })

  test('a failing smoke command is degenerate', () => {
    const executions = [run(label, {}, { role: 'smoke', status: 'smoke-failed' })]
    expect(judge({ executions }).outcome).toBe('degenerate')
    const crashed = [run(label, {}, { role: 'smoke', status: 'crashed' })]
    expect(judge({ executions: crashed }).outcome).toBe('degenerate')
  })

  test('a failing execution of the base is measured again', () => {
    const executions = replaced(0, { status: 'crashed' }).map(one => ({ ...one, status: 'crashed' as const }))
    expect(judge({ executions })).toMatchObject({ outcome: 'error', retry: true })
  })

  const gated = aSpec({
    metric: {
      primary: { type: 'hard', name: 'bytes', direction: 'minimize' },
      degenerate_gates: [{ name: 'ok', check: '== true' }],
      constraints: [{ metric: 'loss', op: '<=', value: 5 }],
    },
  })
  const watched = (...last: Execution['metrics'][]) =>
    better().map((one, at) => ({ ...one, metrics: { ...one.metrics, ok: 1, loss: 1, ...last[at - 3] } }))

  test.each([
    ['a metric gate', { ok: 0 }, 'ok'],
    ['a metric gate without a value', { ok: null }, 'ok'],
    ['a constraint', { loss: 6 }, 'loss'],
    ['a constraint without a value', { loss: null }, 'loss'],
  ])('%s must hold in every execution of the candidate', (_, broken, name) => {
    expect(judge({ executions: watched() }, { spec: gated }).outcome).toBe('eligible')
    expect(judge({ executions: watched(broken) }, { spec: gated })).toMatchObject({
      outcome: 'degenerate',
      violated_objectives: [name],
    })
  })

  test('every gate and constraint that does not hold is named', () => {
    const found = judge({ executions: watched({ ok: 0, loss: 6 }) }, { spec: gated })
    expect(found).toMatchObject({
      outcome: 'degenerate',
      violated_objectives: ['ok', 'loss'],
      reason: 'does not hold in every execution: ok == true, loss <= 5',
    })
  })

  describe('a gate under ce stability', () => {
    const metric = { degenerate_gates: [{ name: 'rate', check: '>= 1.0' }] }
    const spec = ceSpec({ mode: 'repeat', repeat_count: 3 }, metric)
    const stop: StopRule = { rule: 'stability', baseline: null }
    const judged = (...rates: (number | null)[]) =>
      judge(
        {
          executions: rates.flatMap(rate => [
            run('base', { bytes: 1200, rate: 1 }),
            run(label, { bytes: 1100, rate }),
          ]),
        },
        { spec, stop },
      )

    test('checks the aggregate of the samples, not each sample', () => {
      expect(judged(1, 0.9, 1).outcome).toBe('eligible')
    })

    test('fails with the failing value, and when one is missing', () => {
      expect(judged(1, 0.9, 0.8)).toMatchObject({
        outcome: 'degenerate',
        violated_objectives: ['rate'],
        reason: 'does not hold for the median of 3 samples: rate >= 1.0 (0.9)',
      })
      expect(judged(1, null, 1).outcome).toBe('degenerate')
    })
  })

  test('a crash is reported before gates without a value', () => {
    const executions = watched().map((one, at) =>
      at === 1 ? { ...one, status: 'crashed' as const, metrics: {} } : one,
    )
    expect(judge({ executions }, { spec: gated }).outcome).toBe('error')
  })

  test('tampering is reported before everything else', () => {
    const found = judge({
      tampered: { during: label, path: 'x' },
      runner_error: 'x',
      setups: [setUp('base', false)],
      gates: [gateRun(label, 'tests', { passed: false })],
    })
    expect(found.outcome).toBe('refused')
  })
})

describe('the alone rule', () => {
  const alone: StopRule = { rule: 'alone' }
  const judgeAlone = (executions: Execution[], rest: Partial<Report> = {}, side: 'sync' | 'base' = 'sync') =>
    assessCandidate({
      spec: aSpec(),
      order: anOrder(alone),
      report: aReport(executions, rest),
      label: side,
      baseline: null,
    })

  test('needs gates and one run with its numbers', () => {
    expect(judgeAlone([run('sync', { bytes: 9 })])).toMatchObject({
      outcome: 'eligible',
      reason: 'every gate holds',
    })
    expect(judgeAlone([])).toMatchObject({ outcome: 'error', retry: true })
    expect(judgeAlone([run('sync', { bytes: null })])).toMatchObject({ outcome: 'error', retry: false })
    expect(
      judgeAlone([run('sync', { bytes: 9 })], { gates: [gateRun('sync', 'tests', { passed: false })] }),
    ).toMatchObject({
      outcome: 'degenerate',
    })
  })

  test('judges the base itself, as for a baseline', () => {
    expect(judgeAlone([run('base', { bytes: 9 })], {}, 'base').outcome).toBe('eligible')
    expect(judgeAlone([], { setups: [setUp('base', false)] }, 'base')).toMatchObject({
      outcome: 'error',
      retry: false,
    })
  })
})

test('a calibration has no candidate to assess', () => {
  const stop: StopRule = { rule: 'calibrate', runs: 3 }
  expect(() => judge({}, { stop })).toThrow(TypeError)
})

describe('the stability rule', () => {
  const relative = { comparison: { method: 'relative' } }
  const stored = withMetrics({ bytes: sampled(100, 100) })
  const byStability = (
    executions: Execution[],
    spec = ceSpec(relative),
    baseline: Snapshot | null = stored,
  ) => {
    const stop: StopRule = { rule: 'stability', baseline }
    return assessCandidate({ spec, order: anOrder(stop), report: aReport(executions), label, baseline: null })
  }
  const taking = (...values: number[]) => values.map(bytes => run(label, { bytes }))

  test.each([
    [90, 'eligible', null, false],
    [99, 'inconclusive', null, false],
    [120, 'dropped', 'hypothesis', true],
  ] as const)('100 -> %d is %s', (bytes, outcome, failure_class, worse) => {
    expect(byStability(taking(bytes))).toMatchObject({ outcome, failure_class, worse, retry: false })
  })

  test('states its numbers, and that a stored score is no evidence', () => {
    const found = byStability(taking(90))
    expect(found.reason).toBe(
      'bytes 100 -> 90 (-10.0 %), 1 sample: improved bytes, nothing required got worse',
    )
    expect(found.warnings).toEqual(['compared with a stored score; not noise-proof'])
    expect(found).toMatchObject({ primary_delta: 10, rank_score: 0.1, improved_objectives: ['bytes'] })
  })

  test('a ladder that stopped early is promising, not proven', () => {
    const found = byStability(taking(90), ceSpec({ ...relative, mode: 'ladder' }))
    expect(found).toMatchObject({ outcome: 'inconclusive', next_measurement: 'confirm' })
    expect(found.reason).toContain('promising, not confirmed')
  })

  test('a hopeless one is censored', () => {
    const spec = ceSpec({ ...relative, mode: 'ladder', ladder: { futility: {} } })
    expect(byStability(taking(200), spec)).toMatchObject({
      outcome: 'censored',
      primary_delta: -100,
      rank_score: 0,
    })
  })

  test('without a stored baseline the base measured beside it is used', () => {
    const executions = [run('base', { bytes: 50 }), ...taking(90)]
    const found = byStability(executions, ceSpec(relative), null)
    expect(found).toMatchObject({ outcome: 'dropped', primary_delta: -40 })
    expect(found.warnings).toEqual(['compared with one base run in the same job; not noise-proof'])
  })

  test('the caller’s stored baseline is the last resort; without any there is no verdict', () => {
    const stop: StopRule = { rule: 'stability', baseline: null }
    const input = {
      spec: ceSpec(relative),
      order: anOrder(stop),
      report: aReport(taking(90)),
      label,
    } as const
    expect(assessCandidate({ ...input, baseline: stored }).outcome).toBe('eligible')
    expect(assessCandidate({ ...input, baseline: null })).toMatchObject({ outcome: 'error', retry: true })
  })

  test('a report shorter than repeat_count is the runner’s failure', () => {
    const spec = ceSpec({ ...relative, mode: 'repeat', repeat_count: 3 })
    expect(byStability(taking(90, 90), spec)).toMatchObject({ outcome: 'error', retry: true })
    expect(byStability(taking(90, 90, 90), spec).outcome).toBe('eligible')
  })

  test('a required metric that is missing is an error of the evaluation', () => {
    const executions = [run(label, { other: 1 })]
    expect(byStability(executions)).toMatchObject({ outcome: 'error', retry: false, failure_class: 'eval' })
  })

  test('warns about a baseline whose repeats differ by more than a gain', () => {
    const noisy = withMetrics({ bytes: sampled(100, 103) })
    const warned = (stability: Record<string, unknown>) =>
      byStability(taking(90), ceSpec(stability), noisy).warnings
    const compared = 'compared with a stored score; not noise-proof'
    const absolute = (noise_threshold: number) => warned({ ...relative, noise_threshold, comparison: {} })
    expect(absolute(2)).toContain(
      "the baseline's repeats of bytes differ by 3, more than the 2 that count as a gain; a larger measurement.stability.repeat_count would tell more",
    )
    expect(absolute(3)).toEqual([compared])
    const share = (relative_threshold: number) =>
      warned({ comparison: { method: 'relative', relative_threshold }, noise_threshold: 2 })
    expect(share(0.02)).toContain(
      "the baseline's repeats of bytes differ by 3, more than the 2.03 that count as a gain; a larger measurement.stability.repeat_count would tell more",
    )
    expect(share(0.04)).toEqual([compared])
  })
})

test('the report’s flags become warnings, whatever the outcome', () => {
  const flags: Report['flags'] = ['unisolated', 'unreaped']
  for (const found of [judge({ flags }), judge({ flags, runner_error: 'x' })]) {
    expect(found.warnings.map(warning => warning.split(':')[0])).toEqual([
      'not isolated',
      'processes may still run',
    ])
  }
})

test('every assessment survives JSON unchanged', () => {
  for (const found of [
    judge({}),
    judge({ runner_error: 'x' }),
    judge({ executions: replaced(1, { metrics: {} }) }),
  ]) {
    expect(JSON.parse(JSON.stringify(found))).toEqual(found)
  }
})
