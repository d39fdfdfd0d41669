import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildIndexFile, parseIndexEntries } from '../../src/git/patch.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winnow-index-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const name = fc.stringMatching(/^[a-zé]{1,12}$/)
const file = fc.record({
  path: fc.array(name, { minLength: 1, maxLength: 3 }).map(names => names.join('/')),
  mode: fc.constantFrom('100644', '100755', '120000'),
  oid: fc.stringMatching(/^[0-9a-f]{40}$/),
})
/** No file may be where another one needs a directory. */
const files = fc
  .uniqueArray(file, { selector: each => each.path, maxLength: 12 })
  .map(all => all.filter(({ path }) => !all.some(other => other.path.startsWith(`${path}/`))))

describe('an index written and read in process', () => {
  it('holds the files that went in, in the order of their names', () => {
    fc.assert(
      fc.property(files, wanted => {
        const sorted = wanted.toSorted((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)))
        expect(parseIndexEntries('sha1', buildIndexFile('sha1', wanted))).toEqual(sorted)
      }),
    )
  })

  it('is what git reads, and what git writes is read', () => {
    const oid = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    const index = join(root, 'index')
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', root, ...args], {
        env: { PATH: process.env['PATH'], GIT_INDEX_FILE: index },
        encoding: 'utf8',
      })
    execFileSync('git', ['init', '-q', root])
    writeFileSync(
      index,
      buildIndexFile('sha1', [
        { path: 'a/b', mode: '100644', oid },
        { path: 'c', mode: '100755', oid },
      ]),
    )
    expect(git('ls-files', '-s')).toBe(`100644 ${oid} 0\ta/b\n100755 ${oid} 0\tc\n`)
    git('update-index', '--add', '--cacheinfo', `100644,${oid},d/e`)
    git('update-index', '--force-remove', 'a/b')
    expect(parseIndexEntries('sha1', readFileSync(index)).map(({ path }) => path)).toEqual(['c', 'd/e'])
  })

  it('of a version that was never asked for is an error', () => {
    const bytes = buildIndexFile('sha1', [])
    bytes.writeUInt32BE(4, 4)
    expect(() => parseIndexEntries('sha1', bytes)).toThrow('unknown git index, version 4')
  })
})
