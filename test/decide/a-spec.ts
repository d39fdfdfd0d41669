import type { Order, StopRule } from '../../src/model/order.ts'
import type { Execution, Report, Side, Snapshot } from '../../src/model/report.ts'
import { type SpecRules, type Spec, buildSpecSchema } from '../../src/spec/schema.ts'
import { MACHINE } from '../model/a-machine.ts'

type Raw = Record<string, unknown>

/** A spec as validation would hand it over, from the few keys a test cares about. */
export function aSpec(raw: Raw = {}, rules: SpecRules = 'winnow'): Spec {
  const parsed = buildSpecSchema(rules).parse({
    ...(rules === 'winnow' ? { winnow: 1 } : { description: 'test' }),
    metric: { primary: { type: 'hard', name: 'bytes', direction: 'minimize' } },
    scope: { mutable: ['src/'], immutable: ['bench/'] },
    ...raw,
    measurement: { command: 'node bench.mjs', ...Object(raw['measurement']) },
  })
  return { ...parsed, rules, name: 'size', description: 'test' }
}

/** A ce spec, whose measurement is compared by `stability`. */
export function ceSpec(stability: Raw = {}, metric: Raw = {}): Spec {
  const primary = { type: 'hard', name: 'bytes', direction: 'minimize' }
  return aSpec({ metric: { primary, ...metric }, measurement: { stability } }, 'ce')
}

export function sampled(...samples: unknown[]): Raw {
  return { aggregate: samples[0], samples }
}

export function withMetrics(metrics: Raw, rest: Snapshot = {}): Snapshot {
  return { metrics, ...rest }
}

export function run(side: Side, metrics: Execution['metrics'], rest: Partial<Execution> = {}): Execution {
  return {
    side,
    role: 'sample',
    build: 0,
    seed: 1,
    status: 'ok',
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
    metrics,
    ...rest,
  }
}

export function gateRun(side: Side, name: string, rest: Partial<Report['gates'][number]> = {}) {
  return {
    side,
    name,
    phase: 'pre' as const,
    passed: true,
    exit_code: 0,
    timed_out: false,
    seconds: 1,
    ...rest,
  }
}

export function setUp(side: Side, ok: boolean) {
  return { side, build: 0, ok, timed_out: false, seconds: 1 }
}

export function aReport(executions: Execution[], rest: Partial<Report> = {}): Report {
  return {
    order: 'a'.repeat(64),
    run_id: 'run-1',
    started_at: '2026-01-01T00:00:00Z',
    finished_at: '2026-01-01T00:01:00Z',
    harness: 'b'.repeat(64),
    trees: {},
    machine: MACHINE,
    flags: [],
    setups: [],
    gates: [],
    executions,
    tampered: null,
    runner_error: null,
    ...rest,
  }
}

/** An order as a verdict sees it: by which rule it stops, and what earlier jobs measured. */
export function anOrder(stop: StopRule): Pick<Order, 'id' | 'stop' | 'earlier_jobs'> {
  return { id: '0'.repeat(64), earlier_jobs: {}, stop }
}
