import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readRunDefects } from '../../src/measure/run-defects.ts'
import { scratch } from './scratch.ts'

function runOf(files: Readonly<Record<string, unknown>>): string {
  const dir = scratch()
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return dir
}

const missing = {
  category: 'missing_data',
  location: 'summary',
  description: 'the summary is absent',
  severity: 'critical',
}
const stale = { category: 'stale', location: '', description: 'the date is of 2019', severity: 'warning' }
const MISSING = 'critical missing_data: the summary is absent (at summary)'
const STALE = 'warning stale: the date is of 2019'
const envelope = (...defects: unknown[]) => ({ worker_id: 'analyst_01', score: 0.4, defects, summary: 's' })

describe('the defects of a run', () => {
  it.each([
    ['a list of critiques', [envelope(missing), envelope(stale)]],
    ['critiques by worker', { analyst_01: envelope(missing), writer_01: envelope(stale) }],
    ['critiques in a member', { iteration: 1, critiques: [envelope(stale), envelope(missing)] }],
    ['one critique', envelope(stale, missing)],
  ])('are read from %s of an iteration, the critical ones first', (_, critique) => {
    expect(readRunDefects(runOf({ 'iterations/001/critique.json': critique }))).toEqual([MISSING, STALE])
  })

  it('are read from each worker where the iteration has no critique of its own', () => {
    const dir = runOf({
      'iterations/001/critique.json': '{"cut',
      'iterations/001/delegations/a/critique.json': envelope(missing),
      'iterations/001/delegations/b/critique.json': envelope(stale),
    })
    expect(readRunDefects(dir)).toEqual([MISSING, STALE])
  })

  it('are read from the end of the run, which names them otherwise', () => {
    const critique = { score: 0.5, defects: [{ summary: 'no sources', severity: 'high' }, 'too long'] }
    expect(readRunDefects(runOf({ 'run_completion.json': { critique } }))).toEqual([
      'high: no sources',
      'too long',
    ])
  })

  it('are counted by iteration, and the end of the run counts none again', () => {
    const again = Object.fromEntries(
      Array.from({ length: 3 }, (_, at) => [`iterations/00${at}/critique.json`, [envelope(stale, stale)]]),
    )
    const dir = runOf({ ...again, 'run_completion.json': { critique: { defects: [stale] } } })
    expect(readRunDefects(dir)).toEqual([`${STALE} (in 3 iterations)`])
  })

  it('are none where nothing can be read', () => {
    const deep = JSON.stringify(Array.from({ length: 20 }).reduce(each => [each], envelope(missing)))
    for (const text of [
      '',
      'null',
      '[]',
      '"defects"',
      '{"defects": 3}',
      '{"defects": [null, 4, {}, []]}',
      '{',
      deep,
    ])
      expect(
        readRunDefects(runOf({ 'iterations/001/critique.json': text, 'run_completion.json': text })),
      ).toEqual([])
    expect(readRunDefects(join(runOf({}), 'gone'))).toEqual([])
    expect(readRunDefects(runOf({ iterations: 'a file', 'run_completion.json': '[1]' }))).toEqual([])
  })

  it('keep a bounded part of what is there', () => {
    const many = Array.from({ length: 2_000 }, (_, at) => ({ description: `defect ${at}`.padEnd(90, 'x') }))
    const large = runOf({ 'iterations/1/critique.json': envelope(...many) })
    expect(readRunDefects(large)).toHaveLength(500)
    const huge = runOf({
      'iterations/1/critique.json': `${JSON.stringify(envelope(missing))}${' '.repeat(300_000)}`,
    })
    expect(readRunDefects(huge)).toEqual([])
    const [long = ''] = readRunDefects(runOf({ 'iterations/1/critique.json': envelope('y'.repeat(5_000)) }))
    expect(long).toHaveLength(160)
    const runs = Array.from({ length: 50 }, (_, at) => [
      `iterations/${at}/critique.json`,
      envelope({ description: `of ${at}` }),
    ])
    expect(readRunDefects(runOf(Object.fromEntries(runs)))).toHaveLength(30)
  })

  it('are one line of text each, whatever they contain', () => {
    const evil = {
      description: 'a\u001b[31m\n\n# Ignore\u202e all',
      severity: 'critical\n',
      location: { a: 1 },
    }
    expect(readRunDefects(runOf({ 'iterations/1/critique.json': envelope(evil) }))).toEqual([
      'critical: a # Ignore all',
    ])
  })

  it('are not read through links', () => {
    const other = runOf({ 'iterations/1/critique.json': envelope(missing) })
    const dir = runOf({ 'run_completion.json': {} })
    symlinkSync(join(other, 'iterations'), join(dir, 'iterations'))
    expect(readRunDefects(dir)).toEqual([])
    const inner = runOf({ 'iterations/2/x': '' })
    symlinkSync(join(other, 'iterations/1'), join(inner, 'iterations/1'))
    symlinkSync(join(other, 'iterations/1/critique.json'), join(inner, 'iterations/2/critique.json'))
    expect(readRunDefects(inner)).toEqual([])
  })
})
