import { describe, expect, it } from 'vitest'
import { type Execution, findFailedPart, type GateRun, type Report } from '../../src/model/report.ts'
import { renderFailedPart, renderFailedPartMarkdown } from '../../src/report/verdict-markdown.ts'
import { reported } from './pairs-of-a-story.ts'

const OUTPUT = { failing: ['not ok 2 - adds'], stdout: 'ok 1\nnot ok 2 - adds', stderr: 'exit' }
const GATE: GateRun = {
  side: 'exp-001',
  name: 'tests',
  phase: 'pre',
  passed: false,
  exit_code: 1,
  timed_out: false,
  seconds: 1,
  output: OUTPUT,
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
  output: { failing: [], stdout: '', stderr: 'no ruler' },
}

const shown = (report: Partial<Report>) =>
  renderFailedPart(findFailedPart(reported(report).report, 'exp-001'))

describe('the output of a failed experiment', () => {
  it('shows failing tests first, then the end of both streams', () => {
    expect(shown({ gates: [GATE] })).toEqual([
      'Gate tests failed.',
      '  what failed:',
      '    not ok 2 - adds',
      '  last lines of stdout:',
      '    ok 1',
      '  last lines of stderr:',
      '    exit',
      '',
    ])
  })

  it('shows no line twice, and no empty section', () => {
    const output = { failing: ['✖ adds', '  1 !== 2'], stdout: '  ✖ adds\n    1 !== 2\n\n', stderr: '' }
    expect(shown({ gates: [{ ...GATE, output }] })).toEqual([
      'Gate tests failed.',
      '  what failed:',
      '    ✖ adds',
      '      1 !== 2',
      '',
    ])
  })

  it('belongs to the step that failed first', () => {
    expect(shown({ executions: [CRASH] })).toEqual([
      'The harness failed.',
      '  last lines of stderr:',
      '    no ruler',
      '',
    ])
    const output = { failing: [], stdout: '', stderr: 'no gcc' }
    const setup = { side: 'exp-001', build: 0, ok: false, timed_out: false, seconds: 1, output }
    expect(shown({ setups: [setup], gates: [GATE] }).slice(0, 3)).toEqual([
      'Set-up failed.',
      '  last lines of stderr:',
      '    no gcc',
    ])
  })

  it('is mentioned when empty, and omitted without a failure of the candidate', () => {
    const { output: _output, ...silent } = GATE
    expect(shown({ gates: [silent] })).toEqual(['Gate tests failed and printed nothing.', ''])
    expect(shown({ executions: [{ ...CRASH, status: 'ok' }], gates: [{ ...GATE, passed: true }] })).toEqual(
      [],
    )
    expect(shown({ gates: [{ ...GATE, side: 'base' }] })).toEqual([])
  })

  it('fits on a screen', () => {
    const stdout = Array.from({ length: 90 }, (_, line) => `line ${line}`).join('\n')
    const said = shown({ gates: [{ ...GATE, output: { failing: [], stdout, stderr: '' } }] })
    expect([said.length, said[2], said.at(-2)]).toEqual([24, '    …', '    line 89'])
  })
})

describe('the failed output in a pull request', () => {
  it('is in a code fence that it cannot close', () => {
    const output = { failing: [], stdout: '', stderr: '````\n@ada <!-- x -->' }
    const lines = renderFailedPartMarkdown({ what: 'the harness', output })
    expect(lines).toEqual(['`````text', 'last lines of stderr:\n  ````\n  @\u200bada <! -- x -->', '`````'])
  })

  it('is omitted without a failure or output', () => {
    expect(renderFailedPartMarkdown(null)).toEqual([])
    expect(renderFailedPartMarkdown({ what: 'set-up', output: null })).toEqual([])
  })
})
