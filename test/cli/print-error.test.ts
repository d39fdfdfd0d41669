import { describe, expect, it } from 'vitest'
import { printError } from '../../src/cli/run-command-line.ts'
import { ConflictError, ForgeError, HarnessError, LedgerError, UserError } from '../../src/errors.ts'
import { parseSpec } from '../../src/spec/load.ts'

function printed(error: unknown, verbose = false): { code: number; text: string } {
  const lines: string[] = []
  const code = printError(error, { err: line => lines.push(line) }, verbose)
  return { code, text: lines.join('\n') }
}

describe('an error as a person reads it', () => {
  it('says what, where and how to fix', () => {
    const place = { file: '.winnow/size.yaml', line: 3, column: 7, path: 'gates' }
    expect(printed(new UserError('no gate', { place, fix: 'add one' }))).toEqual({
      code: 2,
      text: 'error: .winnow/size.yaml:3:7 gates: no gate\n  fix: add one',
    })
    expect(printed(new UserError('no remote')).text).toBe('error: no remote')
  })

  it('lists everything that is wrong with a spec, each with its line and column', () => {
    let error: unknown
    try {
      parseSpec('winnow: 1\nscop: { mutable: [src/] }\nmeasurement: { comand: x }\n', { file: 'size.yaml' })
    } catch (caught) {
      error = caught
    }
    const { code, text } = printed(error)
    expect(code).toBe(2)
    expect(text).toMatch(/^error: the spec has \d mistakes$/m)
    expect(text).toMatch(/^ {2}size\.yaml:2:1 .*did you mean "?scope/m)
    expect(text).toMatch(/^ {2}size\.yaml:3:16 .*did you mean "?command/m)
  })

  it('names the refs of a lost race and that nothing was written', () => {
    const { code, text } = printed(new ConflictError('the campaign moved', ['refs/heads/optimize/x']))
    expect(code).toBe(75)
    expect(text).toBe(
      'error: the campaign moved\n  moved by another process: refs/heads/optimize/x\n  fix: nothing was written; try again',
    )
  })

  it("passes on the remote's own words, with status, request and rule", () => {
    const detail = {
      status: 403,
      requestId: 'AB:12',
      rule: 'GH006',
      output: 'remote: protected branch\nremote: no',
    }
    const { code, text } = printed(new ForgeError('the remote refused the push', detail))
    expect(code).toBe(69)
    expect(text.split('\n')).toEqual([
      'error: the remote refused the push',
      '  status: 403',
      '  request: AB:12',
      '  rule: GH006',
      '  the remote said:',
      '    remote: protected branch',
      '    remote: no',
    ])
  })

  it('does not say the same words twice', () => {
    expect(printed(new ForgeError('cannot read: fatal: gone', { output: 'fatal: gone' })).text).toBe(
      'error: cannot read: fatal: gone',
    )
  })

  it('shows the line of a harness, a valid one, and what it printed last', () => {
    const detail = {
      line: 'METRIC bytes=many',
      example: 'METRIC bytes=12',
      output: { failing: ['not ok 1'], stdout: 'warming up\n', stderr: 'boom\n' },
    }
    const { code, text } = printed(new HarnessError('bytes is not a number', detail))
    expect(code).toBe(13)
    expect(text.split('\n')).toEqual([
      'error: bytes is not a number',
      '  in: METRIC bytes=many',
      '  valid: METRIC bytes=12',
      '  what failed:',
      '    not ok 1',
      '  last lines of stdout:',
      '    warming up',
      '  last lines of stderr:',
      '    boom',
    ])
  })

  it('suggests winnow audit for a broken ledger', () => {
    const { code, text } = printed(new LedgerError('event 3 does not fit', 3))
    expect([code, text]).toEqual([
      70,
      'error: the ledger does not fit together: event 3 does not fit\n  fix: winnow audit names everything that does not fit',
    ])
  })

  it('keeps the stack of an internal error for --verbose', () => {
    const error = new TypeError('undefined is not a function')
    const { code, text } = printed(error)
    expect(code).toBe(70)
    expect(text).toBe(
      'error: internal: undefined is not a function\n  fix: this is a mistake in winnow; repeat with --verbose and report what it prints',
    )
    expect(printed(error, true).text).toContain('print-error.test.ts')
  })
})
