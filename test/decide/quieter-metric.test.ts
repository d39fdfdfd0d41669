import { describe, expect, test } from 'vitest'
import { createSeededRandom } from '../../src/decide/evidence/planning.ts'
import { findQuieterReading, listStandIns } from '../../src/decide/quieter-metric.ts'
import type { PairJob } from '../../src/model/pairs.ts'
import { parseSpec } from '../../src/spec/load.ts'
import type { Spec } from '../../src/spec/schema.ts'

type Reading = Record<string, number>

function specOf(name: string, direction = 'minimize', more = ''): Spec {
  return parseSpec(
    `winnow: 1
metric: { primary: { name: ${name}, direction: ${direction} }${more} }
measurement: { command: "true" }
gates: [{ name: tests, command: "true" }]
scope: { mutable: [src/] }
`,
    { file: 'spec.yaml' },
  ).spec
}

/** Two jobs of eight pairs each, from numbers between -1 and 1 that differ from run to run. */
function jobsOf(read: (first: number, second: number) => Reading): PairJob[] {
  const random = createSeededRandom(7)
  const draw = () => 2 * random() - 1
  return [0, 1].map(job => ({
    order: `sha256:${String(job).repeat(64)}`,
    runner: 'here',
    complete: true,
    pairs: Array.from({ length: 8 }, (_, index) => ({
      first: index % 2 === 0 ? ('base' as const) : ('candidate' as const),
      base: read(draw(), draw()),
      candidate: read(draw(), draw()),
    })),
  }))
}

const NOISY = { scale: 'log', pair_sd: 0.1 } as const
const find = (spec: Spec, jobs: PairJob[]) => findQuieterReading(spec, jobs, NOISY)?.metric ?? null

describe('a metric that could replace the primary', () => {
  test('moves with it and is quieter: the processor time of a command that computes', () => {
    const jobs = jobsOf((a, b) => ({ wall_seconds: 2 + 0.3 * a, cpu_seconds: 1.9 + 0.01 * b }))
    const found = findQuieterReading(specOf('wall_seconds'), jobs, NOISY)
    expect(found).toEqual({ metric: 'cpu_seconds', pair_sd: expect.any(Number) })
    expect(found?.pair_sd).toBeLessThan(0.02)
  })

  test('computes on a busy machine too, where it waits for its turn in most runs', () => {
    const jobs = jobsOf((a, b) => ({ wall_seconds: 12 + 3 * a, cpu_seconds: 1.9 + 0.01 * b }))
    expect(find(specOf('wall_seconds'), jobs)).toBe('cpu_seconds')
  })

  test('is not the processor time of a command that only waits', () => {
    const jobs = jobsOf((a, b) => ({ wall_seconds: 2 + 0.3 * a, cpu_seconds: 0.1 + 0.001 * b }))
    expect(find(specOf('wall_seconds'), jobs)).toBe(null)
  })

  test('is not the time of a benchmark that repeats until a given time has passed', () => {
    const jobs = jobsOf((a, b) => ({ ns_per_op: 50 + 8 * a, wall_seconds: 1 + 0.001 * b, cpu_seconds: 1 }))
    expect(find(specOf('ns_per_op'), jobs)).toBe(null)
  })

  test('is a printed number that rises with it', () => {
    const jobs = jobsOf((a, b) => ({ p99_ms: 50 + 8 * a, p50_ms: 20 + 0.4 * a + 0.1 * b }))
    expect(find(specOf('p99_ms'), jobs)).toBe('p50_ms')
    expect(find(specOf('p99_ms', 'maximize'), jobs)).toBe('p50_ms')
  })

  test('is no printed number that falls while it rises, no checksum and no constant', () => {
    const rate = jobsOf((a, b) => ({ ms: 50 + 8 * a, per_second: 20 - 0.4 * a + 0.1 * b }))
    expect(find(specOf('ms'), rate)).toBe(null)
    const sums = jobsOf((a, b) => ({ ms: 50 + 8 * a, checksum: Math.round(1e6 + 1e3 * b), items: 40 }))
    expect(find(specOf('ms'), sums)).toBe(null)
  })

  test('has the direction of the primary where the spec gives it one', () => {
    const jobs = jobsOf((a, b) => ({ p99_ms: 50 + 8 * a, speed: 20 + 0.4 * a + 0.1 * b }))
    const spec = specOf('p99_ms', 'minimize', ', objectives: [{ name: speed, direction: maximize }]')
    expect(find(spec, jobs)).toBe(null)
  })

  test('is as fair as the primary: one that tells the copies apart is no help', () => {
    const jobs = jobsOf((a, b) => ({ p99_ms: 50 + 8 * a, p50_ms: 20 + 0.4 * a + 0.1 * b })).map(job => ({
      ...job,
      pairs: job.pairs.map(pair => ({
        ...pair,
        candidate: { ...pair.candidate, p50_ms: (pair.base?.['p50_ms'] ?? 0) * 1.01 },
      })),
    }))
    expect(find(specOf('p99_ms'), jobs)).toBe(null)
  })

  test('is not one that the last two jobs do not have: those cleared the doubts about the first', () => {
    const first = jobsOf((a, b) => ({ p99_ms: 50 + 8 * a, p50_ms: 20 + 0.4 * a + 0.1 * b }))
    const second = jobsOf(a => ({ p99_ms: 50 + 8 * a }))
    expect(find(specOf('p99_ms'), [...first, ...second])).toBe(null)
  })

  test('is not a little quieter, and not compared with a metric that has no shares', () => {
    const jobs = jobsOf((a, b) => ({ p99_ms: 50 + 8 * a, p50_ms: 20 + 2.9 * a + 0.1 * b }))
    expect(find(specOf('p99_ms'), jobs)).toBe(null)
    expect(findQuieterReading(specOf('p99_ms'), jobs, { scale: 'linear', pair_sd: 40 })).toBe(null)
  })
})

describe('the numbers that a calibration keeps', () => {
  const run = (metrics: Reading) => ({
    side: 'base' as const,
    role: 'sample' as const,
    build: 0,
    seed: 1,
    status: 'ok' as const,
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
    metrics,
  })

  test('are those of every run that no verdict reads, without memory', () => {
    const all = { wall_seconds: 1, cpu_seconds: 1, max_rss_mb: 9, ms: 3, p50: 2 }
    const executions = [run({ ...all, sometimes: 1 }), run(all)]
    expect(listStandIns(specOf('ms'), { executions })).toEqual(['cpu_seconds', 'wall_seconds', 'p50'])
    expect(listStandIns(specOf('ms', 'maximize'), { executions })).toEqual(['p50'])
    expect(listStandIns(specOf('max_rss_mb'), { executions })).toEqual([])
  })

  test('are few, however many a benchmark prints', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`n${at}`, at + 1]))
    expect(listStandIns(specOf('n0'), { executions: [run(many)] })).toHaveLength(8)
  })
})
