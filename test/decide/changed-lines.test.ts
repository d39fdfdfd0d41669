import { describe, expect, it } from 'vitest'
import { digestTouchedLines } from '../../src/decide/selection.ts'
import { isSameFamily } from '../../src/decide/evidence/rules.ts'

const BEFORE = 'const size = 8\nfor (const one of all) {\n  use(one)\n}\n'
const change = (after: string, path = 'src/loop.ts', before: string | null = BEFORE) =>
  digestTouchedLines([{ path, before, after }])

function alike(a: ReturnType<typeof digestTouchedLines>, b: ReturnType<typeof digestTouchedLines>): boolean {
  return isSameFamily({ files: [a.files], lines: a.lines }, { files: [b.files], lines: b.lines })
}

describe('the touched lines of a change', () => {
  it('are the old lines, so that a constant tuned twice is one idea', () => {
    const one = change(BEFORE.replace('8', '16'))
    expect(one.lines).toHaveLength(1)
    expect(alike(one, change(BEFORE.replace('8', '32')))).toBe(true)
    expect(alike(one, change(BEFORE.replace('use(one)', 'use(one, 1)')))).toBe(false)
  })

  it('are the added lines when it removes none', () => {
    expect(alike(change(`${BEFORE}first()\n`), change(`${BEFORE}second()\n`))).toBe(false)
    expect(alike(change(`${BEFORE}first()\n`), change(`first()\n${BEFORE}`))).toBe(true)
  })

  it('include the file: the same lines elsewhere are another idea', () => {
    const here = change(BEFORE.replace('8', '16'))
    expect(alike(here, change(BEFORE.replace('8', '16'), 'src/other.ts'))).toBe(false)
  })

  it('ignore indentation and blank lines', () => {
    const tuned = BEFORE.replace('8', '16')
    expect(change(`\n\n${tuned.replace('  use', '\tuse')}`)).toEqual(change(tuned))
    expect(change(`${BEFORE}\n\n`).lines).toEqual([])
  })

  it('are all lines of a new or deleted file, and none of a binary file', () => {
    expect(change('a\nb\n', 'src/new.ts', null).lines).toHaveLength(2)
    expect(digestTouchedLines([{ path: 'src/loop.ts', before: BEFORE, after: null }]).lines).toHaveLength(4)
    expect(digestTouchedLines([{ path: 'logo.png', before: null, after: null }]).lines).toEqual([])
  })

  it('are limited, and equal for similar large changes', () => {
    const long = (extra: string) =>
      change(`${Array.from({ length: 1000 }, (_, at) => `line ${at}`).join('\n')}\n${extra}`, 'a', null)
    expect(long('one').lines).toHaveLength(200)
    expect(alike(long('one'), long('two'))).toBe(true)
  })
})
