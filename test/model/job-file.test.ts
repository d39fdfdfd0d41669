import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { printedEntrySchema, reportEntrySchema } from '../../src/engine/jobs/github-runs.ts'
import {
  fitEntries,
  formatActionsRunId,
  getArtifactFileName,
  getArtifactName,
  MAX_FILE_BYTES,
  MAX_REPORT_BYTES,
  parseJobFile,
  serializeJobFile,
  serializePrintedItems,
  serializeReport,
} from '../../src/model/job-file.ts'
import type { Report } from '../../src/model/report.ts'

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

const bytes = (text: string) => ({ ok: true, bytes: new TextEncoder().encode(text) }) as const

function arrived(text: string): Report {
  const read = parseJobFile(bytes(text), { content: 'report', run: small.run_id, entry: reportEntrySchema })
  if ('unusable' in read || read[0] === undefined) throw new Error(JSON.stringify(read))
  expect(read.map(({ key }) => key)).toEqual([ORDER])
  return read[0].report
}

describe('the file of a report', () => {
  it('is named after its order', () => {
    expect([getArtifactName('report', ORDER), getArtifactFileName('report', ORDER)]).toEqual([
      `report-${ORDER}`,
      `${ORDER}.json`,
    ])
    expect(formatActionsRunId('12', '1')).toBe('actions:12/1')
  })

  it('contains the unchanged report', () => {
    const whole = executed('said')
    expect(arrived(serializeReport(whole))).toEqual(whole)
  })

  it('drops printed output first when it is too large, and keeps measurements', () => {
    const text = serializeReport(executed('é'.repeat(2_500_000)))
    expect(text.length).toBeLessThan(2_000)
    expect(arrived(text).executions).toMatchObject([{ metrics: { bytes: 1 } }])
    expect(text).not.toContain('é')
  })

  it('drops artifacts next, which no decision uses, and keeps tasks', () => {
    const [execution] = executed('said').executions
    if (execution === undefined) throw new Error('nothing was executed')
    const names = { artifacts: { trace: 'x'.repeat(5_000_000) }, task: 'one', tasks: { one: 1 } }
    const read = arrived(serializeReport({ ...small, executions: [{ ...execution, ...names }] }))
    expect(read.runner_error).toBeNull()
    const { output: _said, ...kept } = execution
    expect(read.executions).toEqual([{ ...kept, task: 'one', tasks: { one: 1 } }])
  })

  it('becomes a runner failure when it is still too large, never a partial report', () => {
    const metrics = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`metric-${at}`, at]))
    const text = serializeReport(executed('', metrics), 1500)
    const read = arrived(text)
    expect([read.executions, read.trees]).toEqual([[], {}])
    expect(read.runner_error).toContain('more than 1500 bytes')
  })
})

describe('the file of a report with items', () => {
  const sides: Report = {
    ...small,
    executions: (['base', 'exp-001'] as const).flatMap(side =>
      executed('said').executions.map(run => ({ ...run, side })),
    ),
  }
  const item = (content: string) => [{ id: 'q1', bucket: null, content }]
  const read = (text: string) => {
    const format = { content: 'printed', run: small.run_id, entry: printedEntrySchema } as const
    const entries = parseJobFile(bytes(text), format)
    if ('unusable' in entries || entries[0] === undefined) throw new Error(JSON.stringify(entries))
    const { key: _, ...printed } = entries[0]
    return printed
  }

  it('contains the printed items of both sides and the unchanged report', () => {
    const items = { base: item('π\u0000\n'), 'exp-001': item('new') }
    expect(read(serializePrintedItems(sides, items))).toEqual({ report: sides, items })
  })

  it('marks only the side that printed too much as broken, not the runner', () => {
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

  it('never exceeds the limit of its reader', () => {
    const most = item('x'.repeat(12 * 1024 * 1024 - 100))
    const long = executed('é'.repeat(MAX_REPORT_BYTES))
    const text = serializePrintedItems(long, { base: most, 'exp-001': most })
    expect(Buffer.byteLength(text)).toBeLessThan(MAX_FILE_BYTES.printed)
    expect(JSON.parse(text).entries).toMatchObject([
      { items: { base: most }, report: { executions: [{ status: 'ok' }] } },
    ])
  })
})

describe('a file passed between jobs', () => {
  const RUN = 'actions:1/1'
  const entry = z.strictObject({ key: z.string(), text: z.string() })
  const file = (more: object = {}) =>
    JSON.stringify({ winnow: 1, content: 'scores', run: RUN, entries: [{ key: 'a', text: 'x' }], ...more })
  const read = (text: string) => parseJobFile(bytes(text), { content: 'scores', run: RUN, entry })

  it('arrives unchanged', () => {
    const entries = ['a', 'b'].map(key => ({ key, text: 'é' }))
    expect(read(serializeJobFile('scores', { run: RUN, entries }))).toEqual(entries)
  })

  it.each<[string, string, string]>([
    ['is no JSON', '{"winnow": 1', 'the file of scores holds no JSON'],
    ['is empty', '', 'the file of scores holds no JSON'],
    ['is something else', '[]', 'the file of scores: '],
    ['has another number', file({ winnow: 2 }), 'winnow: '],
    ['has other content', file({ content: 'answers' }), 'content: '],
    ['has more than it should', file({ verdict: 'kept' }), 'the file of scores: '],
    ['is from another run', file({ run: 'actions:2/1' }), 'is from run actions:2/1, not actions:1/1'],
    [
      'answers twice',
      file({ entries: ['x', 'y'].map(text => ({ key: 'a', text })) }),
      'two entries have one key',
    ],
    ['has an entry of another kind', file({ entries: [{ key: 'a', text: 1 }] }), 'entries.0.text: '],
    [
      'has a text of megabytes',
      file({ entries: [{ key: 'a', text: 'x'.repeat(70_000) }] }),
      'entries.0.text has more',
    ],
    [
      'has too many entries',
      file({ entries: Array.from({ length: 257 }, (_, at) => ({ key: `${at}`, text: '' })) }),
      'entries: ',
    ],
  ])('is rejected with a one-line reason when it %s', (_, text, why) => {
    const given = read(text)
    expect(given).toEqual({ unusable: expect.stringContaining(why) })
    expect(JSON.stringify(given)).not.toContain('\\n')
  })

  it('has a reason when it is missing', () => {
    const missing = { ok: false, why: 'its run has no artifact' } as const
    expect(parseJobFile(missing, { content: 'scores', run: RUN, entry })).toEqual({ unusable: missing.why })
  })

  it('contains all entries that fit, even after one that is too large', () => {
    const all = ['a', 'b', 'c'].map(key => ({ key, text: key === 'b' ? 'x'.repeat(5_000) : 'x' }))
    const keys = (entries: readonly { key: string }[]) => entries.map(({ key }) => key)
    expect(keys(fitEntries(all, 3_000, () => null))).toEqual(['a', 'c'])
    expect(fitEntries(all, 3_000, each => ({ ...each, text: '' }))).toMatchObject([{}, { text: '' }, {}])
    const many = Array.from({ length: 300 }, (_, at) => ({ key: `${at}` }))
    expect(fitEntries(many, 1_000_000, () => null)).toHaveLength(256)
  })
})
