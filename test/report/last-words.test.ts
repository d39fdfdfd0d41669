import { describe, expect, it } from 'vitest'
import type { Execution, GateRun, Report } from '../../src/model/report.ts'
import { lastWords } from '../../src/report/last-words.ts'
import { eventsOf } from './campaign-of.ts'
import { reported } from './pairs-of-a-story.ts'

const GATE: GateRun = {
  side: 'exp-001',
  name: 'tests',
  phase: 'pre',
  passed: false,
  exit_code: 1,
  timed_out: false,
  seconds: 1,
  tail: 'ok 1\nnot ok 2\n',
}
const CRASH: Execution = {
  side: 'exp-001',
  role: 'sample',
  build: 0,
  seed: 0,
  status: 'crashed',
  exit_code: 3,
  signal: null,
  wall_seconds: 1,
  metrics: {},
  stderr_tail: 'no ruler',
}

function wordsOf(...reports: Partial<Report>[]): string[] {
  return lastWords(eventsOf(...reports.map(report => reported(report))), 'exp-001')
}

describe('what an experiment printed before it failed', () => {
  it('is what its gate said', () => {
    expect(wordsOf({ gates: [GATE] })).toEqual([
      'The last lines of gate tests:',
      '    ok 1',
      '    not ok 2',
      '',
    ])
  })

  it('is what its harness or its set-up said', () => {
    expect(wordsOf({ executions: [CRASH] })[1]).toBe('    no ruler')
    const setup: Report['setups'][number] = {
      side: 'exp-001',
      build: 0,
      ok: false,
      timed_out: false,
      seconds: 1,
      tail: 'no gcc',
    }
    expect(wordsOf({ setups: [setup], gates: [GATE] }).slice(0, 2)).toEqual([
      'The last lines of set-up:',
      '    no gcc',
    ])
  })

  it('is said also where it is nothing, and not at all where nothing failed or the other side did', () => {
    expect(wordsOf({ gates: [{ ...GATE, tail: ' \n' }] })[1]).toBe('    (it printed nothing)')
    expect(wordsOf({ executions: [{ ...CRASH, status: 'ok' }], gates: [{ ...GATE, passed: true }] })).toEqual(
      [],
    )
    expect(wordsOf({ gates: [{ ...GATE, side: 'base' }] })).toEqual([])
    expect(lastWords([], 'exp-001')).toEqual([])
  })

  it('is that of the newest measurement, and no longer than a screen', () => {
    expect(wordsOf({ gates: [GATE] }, { gates: [{ ...GATE, passed: true }] })).toEqual([])
    const long = Array.from({ length: 90 }, (_, line) => `line ${line}`).join('\n')
    const said = wordsOf({ gates: [{ ...GATE, tail: long }] })
    expect([said.length, said[1], said.at(-2)]).toEqual([43, '    …', '    line 89'])
  })
})
