import { describe, expect, test } from 'vitest'
import type { StopRule } from '../../src/model/order.ts'
import { serializeReport } from '../../src/model/job-file.ts'
import { reportSchema } from '../../src/model/report.ts'
import { computeSideRoom, limitToRoom } from '../../src/measure/execute.ts'
import { laboratory } from './laboratory.ts'

/** Prints so many metrics more as its tree says. */
const MANY = {
  'bench.sh': `node -e '
const more = Number(require("fs").readFileSync("src/more", "utf8"))
const metrics = { bytes: 1 }
for (let at = 0; at < more; at++) metrics["m" + String(at).padStart(99, "0")] = at
console.log(JSON.stringify({ metrics, artifacts: { trace: "t".repeat(more * 100) } }))'
`,
  'src/more': '10\n',
}

const MOST = 100_000
const pairs: StopRule = { rule: 'pairs', metrics: ['bytes'], scale: 'log', pairs: 4 }

async function measured(more: { base?: number; candidate: number }, mostReportBytes?: number) {
  const lab = await laboratory()
  const files = { ...MANY, 'src/more': `${more.base ?? 10}\n` }
  const candidates = { 'exp-001': { 'src/more': `${more.candidate}\n`, 'src/other': 'x' } }
  const input = mostReportBytes === undefined ? {} : { mostReportBytes }
  const whole = await lab.measure({ files, candidates, stop: pairs, input })
  const arrived = reportSchema.parse(JSON.parse(serializeReport(whole, MOST)).entries[0].report)
  const of = (side: string) =>
    arrived.executions.flatMap(run => (run.side === side ? [`${run.role} ${run.status}`] : []))
  return { whole, arrived, base: of('base'), own: of('exp-001') }
}

describe('a side that prints more than a report can carry', () => {
  test('has printed no result: its report arrives, and is not measured again as the failure of its runner', async () => {
    const { arrived, base, own } = await measured({ candidate: 900 }, MOST)
    expect(arrived.runner_error).toBeNull()
    expect(own).toEqual(['warmup bad-output', 'sample bad-output'])
    expect(base.slice(0, 2)).toEqual(['warmup ok', 'sample ok'])
    expect(arrived.executions.filter(({ status }) => status !== 'ok').map(({ metrics }) => metrics)).toEqual([
      {},
      {},
    ])
  })

  test('says how much that is, and what to do', async () => {
    const { whole } = await measured({ candidate: 900 }, MOST)
    const [failed] = whole.executions.filter(({ status }) => status !== 'ok')
    expect(failed?.error).toMatch(
      /^its metrics take \d{5} bytes, but its side has only 40000 left in this report: print fewer/,
    )
    expect(failed).not.toHaveProperty('artifacts')
  })

  test('has all it printed where nothing has to travel', async () => {
    const { whole } = await measured({ candidate: 900 })
    expect(new Set(whole.executions.map(({ status }) => status))).toEqual(new Set(['ok']))
    expect(whole.executions).toHaveLength(10)
  })

  test.each([130, 200, 260])('is the base as early as a candidate where both print %i', async count => {
    const { base, own } = await measured({ base: count, candidate: count }, MOST)
    const failed = (runs: readonly string[]) => runs.findIndex(each => each.endsWith('bad-output'))
    expect(failed(base)).toBeGreaterThanOrEqual(0)
    // What fails twice on both sides is asked again, and no candidate's doing.
    expect(base.filter(each => each.endsWith('bad-output'))).toHaveLength(2)
    expect(failed(own) === -1 || failed(own) >= failed(base)).toBe(true)
  })
})

describe('the room of a side', () => {
  test('is a share of what a report may have, that of the base a little less', () => {
    const room = (label: 'base' | 'exp-001', of: number) =>
      computeSideRoom({ mostReportBytes: 1000 }, { label, of })
    expect([room('base', 2), room('exp-001', 2), room('exp-001', 4)]).toEqual([320, 400, 200])
    expect(computeSideRoom({}, { label: 'base', of: 2 })).toBe(Number.POSITIVE_INFINITY)
  })

  test('is used up by metrics alone, to the last byte, and by nothing that had none', () => {
    const side = { room: 20 }
    const run = {
      side: 'exp-001',
      role: 'sample',
      build: 0,
      seed: 1,
      status: 'ok',
      exit_code: 0,
      signal: null,
      wall_seconds: 1,
      metrics: { bytes: 1 },
      artifacts: { trace: 'long' },
    } as const
    expect(limitToRoom(side, run)).toBe(run)
    expect(side.room).toBe(9)
    expect(limitToRoom(side, run)).toMatchObject({ status: 'bad-output', metrics: {} })
    expect(side.room).toBe(9)
    expect(limitToRoom(side, { ...run, metrics: { b: 1 } }).status).toBe('ok')
    const tasks = limitToRoom({ room: 20 }, { ...run, tasks: { t1: 0.5, t2: 0.25 } })
    expect(tasks).toMatchObject({ status: 'bad-output', metrics: {} })
    expect(tasks).not.toHaveProperty('tasks')
    expect(tasks.error).toMatch(/^its metrics and tasks take 31 bytes/)
  })
})
