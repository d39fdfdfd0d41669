import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import countColumns from 'string-width'
import { truncateToWidth, wrapLine } from '../../src/report/terminal.ts'

const wordsOf = (text: string) => text.split(/\s+/).filter(word => word !== '')

describe('a line on a narrow terminal', () => {
  it('is unchanged when it fits', () => {
    expect(wrapLine('  baseline   a59c6a9de667  bytes 302', 40)).toEqual([
      '  baseline   a59c6a9de667  bytes 302',
    ])
  })

  it('is wrapped between words with an indent', () => {
    expect(wrapLine('  note: the metric is compared with a stored score', 40)).toEqual([
      '  note: the metric is compared with a',
      '      stored score',
    ])
  })

  it('moves a table cell to its own line when it fits there', () => {
    const row = 'exp-004  #4  Broken: gate greets failed             A shorter greeting is friendlier'
    expect(wrapLine(row, 40)).toEqual([
      'exp-004  #4  Broken: gate greets failed',
      '    A shorter greeting is friendlier',
    ])
    expect(wrapLine('exp-004  #4  Broken: gate greets failed', 20)).toEqual([
      'exp-004  #4  Broken:',
      '    gate greets',
      '    failed',
    ])
  })

  it('never splits a word, so that it can be copied', () => {
    const id = 'b61c5eb1a903686e58f343c4088d1b7be550fba2'
    expect(wrapLine(`  head      ${id}`, 30)).toEqual(['  head', `      ${id}`])
  })

  it('does not split a bar that looks finished', () => {
    const bar = '▕███████▏············▏'
    expect(wrapLine(`     4    0.24043   0.045463  +81.1 %  cand.  12  ${bar}`, 40).join('\n')).toContain(bar)
  })

  it('does not split a bar', () => {
    const bar = '▕████                ▏'
    const lines = wrapLine(`     1       12.3       11.9   +3.2 %  base       1.2  ${bar}`, 40)
    expect(lines.at(-1)).toBe(`         ${bar}`)
    expect(Math.max(...lines.map(line => countColumns(line)))).toBeLessThanOrEqual(40)
  })

  it('is never wider than asked, except for a long word, and loses no word', () => {
    const word = fc.stringMatching(/^[a-z漢🙂]{1,12}$/u)
    const gap = fc.constantFrom(' ', '  ', '     ')
    const line = fc
      .tuple(
        fc.constantFrom('', '  ', '      '),
        fc.array(fc.tuple(word, gap), { minLength: 1, maxLength: 30 }),
      )
      .map(([indent, parts]) => `${indent}${parts.flat().join('').trimEnd()}`)
    fc.assert(
      fc.property(line, fc.integer({ min: 20, max: 100 }), (text, columns) => {
        const lines = wrapLine(text, columns)
        expect(wordsOf(lines.join('\n'))).toEqual(wordsOf(text))
        for (const each of lines) {
          if (countColumns(each) > columns) expect(wordsOf(each)).toHaveLength(1)
          expect(each.trim()).not.toBe('')
        }
      }),
    )
  })
})

describe('the width of text', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['🙂', 2],
    ['e\u0301', 1],
    ['a\u200bb', 2],
    ['é…▕█▏', 5],
  ])('%s takes %i columns', (text, columns) => {
    expect(countColumns(text)).toBe(columns)
  })

  it('never exceeds the requested width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 0, max: 30 }), (text, columns) => {
        const cut = truncateToWidth(text, columns)
        expect(countColumns(cut)).toBeLessThanOrEqual(columns)
        if (countColumns(text) <= columns) expect(cut).toBe(text)
      }),
    )
  })
})
