import { describe, expect, test } from 'vitest'
import { findFirstChangedLine, findPackageLine } from '../../src/decide/packages.ts'

describe('the first line that changed', () => {
  test.each([
    ['of a new file', null, 'a\nb\n', 1],
    ['of one that is gone', 'a\n', null, 1],
    ['of one that is empty now', 'a\n', '', 1],
    ['in the middle', 'a\nb\nc\n', 'a\nx\nc\n', 2],
    ['where one came in between', 'a\nc\n', 'a\nb\nc\n', 2],
    ['at the end', 'a\n', 'a\nb\n', 2],
    ['at an end without a line break', 'a\nb', 'a\nc', 2],
    ['where the end was taken away', 'a\nb\nc\n', 'a\nb\n', 2],
    ['where only the last line break went', 'a\nb\n', 'a\nb', 2],
  ])('%s', (_, before, after, line) => {
    expect(findFirstChangedLine(before, after)).toBe(line)
  })
})

describe('the line that names a package', () => {
  test.each([
    ['left-pad', '{\n  "left-pad-extra": "1",\n  "left-pad": "1"\n}', 3],
    ['left-pad', '"node_modules/left-pad": {', 1],
    ['@a/b', 'x\n  "@a/b": "1"', 2],
    ['b', 'x\n  "@a/b": "1"\n"b": "1"', 2],
    ['ms', '/ms@2.1.3:\n', 1],
    ['serde', '[[package]]\nname = "serde"\n', 2],
    ['a.b', 'axb\na.b\n', 2],
    ['gone', 'x\ny', 1],
    ['gone', null, 1],
  ])('%s in %j', (name, text, line) => {
    expect(findPackageLine(name, text)).toBe(line)
  })
})
