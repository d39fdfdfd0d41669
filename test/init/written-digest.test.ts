import { describe, expect, it } from 'vitest'
import { isAsWritten, isNewer, withDigest, withKeptActions } from '../../src/init/workflows/files.ts'

const A = 'ab12'.repeat(10)
const B = 'cd34'.repeat(10)
const STEP = `jobs:\n  a:\n    steps:\n      - uses: o/winnow@${A} # v1.0.0\n      - name: x\n        uses: actions/checkout@${A} # v6.0.2\n`

describe('the digest of a workflow that winnow wrote', () => {
  const written = withDigest(STEP)

  it('matches until a person changes the file; changes by Dependabot, winnow or in line endings do not count', () => {
    expect(isAsWritten(written)).toBe(true)
    expect(isAsWritten(written.replaceAll(`${A} # v6.0.2`, `${B} # v7.1.0`))).toBe(true)
    expect(isAsWritten(written.replaceAll('\n', '\r\n'))).toBe(true)
    expect(withDigest(written)).toBe(written)
    expect(withDigest(written.replace(A, B))).toBe(written.replace(A, B))
  })

  it.each([
    ['a line', written.replace('    steps', '    if: false\n    steps')],
    ['another action', written.replace('o/winnow', 'evil/winnow')],
    ['no digest', STEP],
    ['a digest of something else', written.replace(/[0-9a-f]{16}\n$/, `${'0'.repeat(16)}\n`)],
  ])('does not match with %s', (_, text) => {
    expect(isAsWritten(text)).toBe(false)
  })
})

describe('actions that the existing file has in another version', () => {
  const file = STEP.replace(`${A} # v6.0.2`, `${B} # v6.1.0`).replace(`${A} # v1.0.0`, `${B} # v2.0.0`)
  const own = 'o/winnow'

  it('are kept if they are newer, except winnow itself', () => {
    const kept = withKeptActions(STEP, { file, own, onServer: false })
    expect(kept).toContain(`actions/checkout@${B} # v6.1.0`)
    expect(kept).toContain(`o/winnow@${A} # v1.0.0`)
    expect(withKeptActions(file, { file: STEP, own, onServer: false })).toBe(file)
  })

  it('are all kept on an Enterprise Server', () => {
    const older = withKeptActions(file, { file: STEP, own, onServer: true })
    expect(older).toContain(`actions/checkout@${A} # v6.0.2`)
  })

  it.each([
    ['v1.2.10', 'v1.2.9', true],
    ['v2', 'v1.9.9', true],
    ['1.0.0', 'v1', false],
    ['main', 'v1', false],
    ['v1', 'main', false],
    ['', 'v1', false],
  ])('%s is newer than %s: %s', (version, than, expected) => {
    expect(isNewer(version, than)).toBe(expected)
  })
})
