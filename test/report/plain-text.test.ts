import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  neutralizeMentions,
  toOneLine,
  toPlainText,
  toSafeLine,
  toVisibleText,
} from '../../src/model/text.ts'
import { toPlainJson } from '../../src/report/markdown.ts'

const OBEYED = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u

describe('text for a terminal', () => {
  it.each([
    ['colour', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2Jb', 'ab'],
    ['a title', '\u001b]0;owned\u0007text', 'text'],
    ['a hyperlink', '\u001b]8;;http://x\u001b\\click\u001b]8;;\u001b\\', 'click'],
    ['a device string', '\u001bPq#0\u001b\\after', 'after'],
    ['a one-byte sequence start', '\u009b31mred', '31mred'],
    ['an overwritten line', 'verdict: kept\rverdict: fake', 'verdict: keptverdict: fake'],
    ['a turned direction', 'abc\u202edef', 'abcdef'],
    ['a backspace', 'ab\b\bcd', 'abcd'],
  ])('loses %s', (_, given, expected) => {
    expect(toPlainText(given)).toBe(expected)
  })

  it('keeps lines, tabs and every language', () => {
    const text = 'eins\n\tzwei — Ünïcödé 漢字 🙂'
    expect(toPlainText(text)).toBe(text)
    expect(toPlainText('a\r\nb')).toBe('a\nb')
  })

  it('contains no control sequence for any input', () => {
    const code = fc.oneof(fc.integer({ min: 0, max: 0xa0 }), fc.integer({ min: 0x2020, max: 0x2070 }))
    const nasty = fc.array(code).map(codes => String.fromCodePoint(...codes))
    fc.assert(
      fc.property(nasty, text => {
        expect(toPlainText(text)).not.toMatch(OBEYED)
      }),
    )
  })
})

describe('text of others, where winnow takes it', () => {
  it.each([
    ['colours and controls', '\u001b[31mred\u001b[0m\r\nnext\u0007\u202e\ttab', 'red\nnext\ttab'],
    ['a title', '\u001b]0;owned\u0007text', 'text'],
    ['a title without an end', '\u001b]0;owned\n{"ms": 3}', '\n{"ms": 3}'],
    ['an overwritten line', 'ms=1\rms=3', 'ms=1\nms=3'],
    ['words that a person does not see', 'ab\u200bc\u{e0041}\u00ad', 'abc'],
  ])('loses %s', (_, given, expected) => {
    expect(toVisibleText(given)).toBe(expected)
  })

  it('is on one line with single spaces, where other text keeps what it has', () => {
    const text = ' a  b\u200b\n\u001b[2Jc'
    expect(toSafeLine(text, 80)).toBe('a b c')
    expect(toOneLine(text, 80)).toBe('a  b\u200b [2Jc')
    expect(toPlainText(neutralizeMentions('@ada'))).toBe('@\u200bada')
  })
})

describe('JSON for a terminal', () => {
  it('parses to the same value and contains no control sequence', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = toPlainJson({ value, hostile: '\u009b2J\u202e\u2028' })
        expect(text).not.toMatch(OBEYED)
        expect(JSON.parse(text)).toEqual(
          JSON.parse(JSON.stringify({ value, hostile: '\u009b2J\u202e\u2028' })),
        )
      }),
    )
  })
})
