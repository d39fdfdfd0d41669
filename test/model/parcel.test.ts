import { describe, expect, it } from 'vitest'
import { printedOrder } from '../../src/judge/judged-report.ts'
import {
  formatActionsRunId,
  getArtifactFileName,
  getReportArtifactName,
  MAX_PRINTED_BYTES,
  MAX_REPORT_BYTES,
  serializePrintedItems,
  serializeReport,
} from '../../src/model/report-artifact.ts'
import { type Report, reportSchema } from '../../src/model/report.ts'

const ORDER = 'a'.repeat(64)
const small: Report = {
  order: ORDER,
  run_id: formatActionsRunId(12, 1),
  started_at: '2026-01-01T00:00:00.000Z',
  finished_at: '2026-01-01T00:01:00.000Z',
  harness: 'b'.repeat(64),
  trees: { base: 'c'.repeat(40) },
  machine: {
    boot_id: 'boot',
    hostname_sha256: 'd'.repeat(64),
    os: 'linux x64',
    kernel: '6',
    cpu_model: 'cpu',
    cores: 2,
    memory_mb: 100,
    image: null,
    node: 'v24.0.0',
  },
  flags: [],
  setups: [],
  gates: [],
  executions: [],
  tampered: null,
  runner_error: null,
}

function executed(stderr: string, metrics: Record<string, number> = { bytes: 1 }): Report {
  const execution = { side: 'base', role: 'sample', build: 0, seed: 0, status: 'ok' } as const
  const end = {
    exit_code: 0,
    signal: null,
    wall_seconds: 1,
    metrics,
    output: { failing: [], stdout: '', stderr },
  }
  return { ...small, executions: [{ ...execution, ...end }] }
}

describe('a parcel', () => {
  it('has its order in its name and in the name of its one file', () => {
    expect([getReportArtifactName(ORDER), getArtifactFileName(ORDER)]).toEqual([
      `report-${ORDER}`,
      `${ORDER}.json`,
    ])
    expect(formatActionsRunId('12', '1')).toBe('actions:12/1')
  })

  it('carries a report as it is', () => {
    const whole = executed('said')
    expect(reportSchema.parse(JSON.parse(serializeReport(whole)))).toEqual(whole)
  })

  it('leaves out what was printed before it grows too large, and keeps what was measured', () => {
    const text = serializeReport(executed('é'.repeat(2_500_000)))
    expect(text.length).toBeLessThan(2_000)
    expect(reportSchema.parse(JSON.parse(text)).executions).toMatchObject([{ metrics: { bytes: 1 } }])
    expect(text).not.toContain('é')
  })

  it('then leaves out tasks and artifacts, by which nothing is decided', () => {
    const [execution] = executed('said').executions
    if (execution === undefined) throw new Error('nothing was executed')
    const names = { artifacts: { trace: 'x'.repeat(5_000_000) }, tasks: { one: 1 } }
    const read = reportSchema.parse(
      JSON.parse(serializeReport({ ...small, executions: [{ ...execution, ...names }] })),
    )
    expect(read.runner_error).toBeNull()
    const { output: _said, ...kept } = execution
    expect(read.executions).toEqual([kept])
  })

  it('of something larger still is the failure of its runner, and never a part of what was measured', () => {
    const metrics = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`metric-${at}`, at]))
    const text = serializeReport(executed('', metrics), 1500)
    const read = reportSchema.parse(JSON.parse(text))
    expect([read.executions, read.trees]).toEqual([[], {}])
    expect(read.runner_error).toContain('more than 1500 bytes')
  })
})

describe('a parcel with items', () => {
  const sides: Report = {
    ...small,
    executions: (['base', 'exp-001'] as const).flatMap(side =>
      executed('said').executions.map(run => ({ ...run, side })),
    ),
  }
  const item = (content: string) => [{ id: 'q1', bucket: null, content }]
  const read = (text: string) => printedOrder.parse(JSON.parse(text))

  it('carries both sides as they printed them, and the report as it is', () => {
    const items = { base: item('π\u0000\n'), 'exp-001': item('new') }
    expect(read(serializePrintedItems(sides, items))).toEqual({ report: sides, items })
  })

  it('of a side that printed too much breaks that side and no other, and is no failure of the runner', () => {
    for (const side of ['base', 'exp-001'] as const) {
      const other = side === 'base' ? 'exp-001' : 'base'
      const items = { [side]: item('é'.repeat(300)), [other]: item('x') }
      const { report: told, items: left } = read(serializePrintedItems(sides, items, 500))
      expect(left).toEqual({ [side]: [], [other]: item('x') })
      expect(told.runner_error).toBeNull()
      const [broken, ...more] = told.executions.filter(({ status }) => status !== 'ok')
      expect([broken?.side, broken?.metrics, more]).toEqual([side, {}, []])
      expect(broken?.error).toMatch(/^its items have 6\d\d bytes, and no more than 500 are scored$/)
    }
  })

  it('is never more than whoever takes it in reads', () => {
    const most = item('x'.repeat(12 * 1024 * 1024 - 100))
    const long = executed('é'.repeat(MAX_REPORT_BYTES))
    const text = serializePrintedItems(long, { base: most, 'exp-001': most })
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_PRINTED_BYTES)
    expect(JSON.parse(text)).toMatchObject({
      items: { base: most },
      report: { executions: [{ status: 'ok' }] },
    })
  })
})
