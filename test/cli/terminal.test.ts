import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createTerminal, canShowColour } from '../../src/cli/terminal.ts'

function capture(colour: boolean, obeyed = false) {
  const chunks: string[] = []
  const out = new Writable({ write: (chunk, _encoding, done) => (chunks.push(String(chunk)), done()) })
  const words = createTerminal({
    input: Readable.from(['one\r\ntwo\n']),
    out,
    err: out,
    colour: { out: colour, err: colour },
    obeyed,
  })
  return { words, text: () => chunks.join('') }
}

describe('the terminal', () => {
  it('colours a verdict and nothing that a branch could have written', () => {
    const { words, text } = capture(true)
    words.out('exp-001  #1  Kept: bytes 2 -> 1')
    words.out('exp-002 Refused: \u001b[32mKept: trust me\u001b[0m')
    words.out('note on exp-003: Kept: not a verdict')
    words.err('error: nothing')
    expect(text().split('\n')).toEqual([
      'exp-001  #1  \u001b[32mKept\u001b[0m: bytes 2 -> 1',
      'exp-002 \u001b[35mRefused\u001b[0m: Kept: trust me',
      'note on exp-003: Kept: not a verdict',
      '\u001b[31merror\u001b[0m: nothing',
      '',
    ])
  })

  it('is plain where colours are not wanted', () => {
    const { words, text } = capture(false)
    words.out('Kept: yes')
    expect(text()).toBe('Kept: yes\n')
  })

  it.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '' }, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{}, {}, false],
  ])('on %j with %j wants colours: %s', (stream, env: Record<string, string>, expected) => {
    expect(canShowColour(stream, env)).toBe(expected)
  })

  it('writes JSON that loses nothing and moves no cursor', () => {
    const { words, text } = capture(true)
    words.json({ a: 'x\u001b[2Jy\u009b\u202e' })
    expect(text()).toBe('{"a":"x\\u001b[2Jy\\u009b\\u202e"}\n')
    expect(JSON.parse(text())).toEqual({ a: 'x\u001b[2Jy\u009b\u202e' })
  })

  it('gives a CI runner that reads along no orders, and loses none of its JSON', () => {
    const { words, text } = capture(false, true)
    words.out('::set-output name=a::b\n  ::error::x\nplain :: text ##[error]y')
    words.json({ text: '##[error]z' })
    const [first = '', second = '', third = '', json = ''] = text().split('\n')
    expect([first, second]).toEqual([':\u200b:set-output name=a::b', '  :\u200b:error::x'])
    expect(third).toBe('plain :: text ##\u200b[error]y')
    expect(json).not.toContain('##[')
    expect(JSON.parse(json)).toEqual({ text: '##[error]z' })
  })

  it('reads standard input line by line', async () => {
    const lines: string[] = []
    for await (const line of capture(false).words.lines()) lines.push(line)
    expect(lines).toEqual(['one', 'two'])
  })
})
