import { Buffer } from 'node:buffer'
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFetched, userRepository } from './scratch.ts'
import { selectCases } from '../support/cases.ts'

const LATIN1 = Buffer.from([0x61, 0xe9, 0x0a])
const BINARY = Buffer.from([0, 1, 2, 0xff, 0, 10])

/** What a program may leave in its work tree, each against the same beginning. */
const CHANGES: Readonly<Record<string, (dir: string) => void>> = {
  'text in UTF-8': dir => writeFileSync(join(dir, 'src/a.txt'), '1\nzwei – ✓\n3'),
  'text that is no UTF-8': dir => writeFileSync(join(dir, 'latin.txt'), Buffer.concat([LATIN1, LATIN1])),
  'text that is no UTF-8 any more': dir => writeFileSync(join(dir, 'src/a.txt'), LATIN1),
  'a binary file': dir => writeFileSync(join(dir, 'binary'), Buffer.concat([BINARY, BINARY])),
  'files added, removed and made executable': dir => {
    mkdirSync(join(dir, 'new folder'))
    writeFileSync(join(dir, 'new folder/"odd" ü.txt'), 'x\n')
    writeFileSync(join(dir, 'empty'), '')
    rmSync(join(dir, 'latin.txt'))
    chmodSync(join(dir, 'src/a.txt'), 0o755)
  },
  'a link': dir => symlinkSync('src/a.txt', join(dir, 'link')),
  'lines that look like a patch': dir =>
    writeFileSync(join(dir, 'src/a.txt'), 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\nliteral 9\r\n'),
  'attributes that hide and convert': dir => {
    writeFileSync(join(dir, '.gitattributes'), '* -diff\n*.txt eol=crlf text\n')
    writeFileSync(join(dir, 'src/a.txt'), 'other\n')
  },
}

describe('the patch between two trees', () => {
  it.each(selectCases(Object.entries(CHANGES), 3))('gives back %s', async (_name, change) => {
    const user = userRepository({})
    writeFileSync(join(user.dir, 'latin.txt'), LATIN1)
    writeFileSync(join(user.dir, 'binary'), BINARY)
    user.commit('before', { 'src/a.txt': '1\n2\n3\n' })
    const before = user.git('rev-parse', 'HEAD^{tree}')
    change(user.dir)
    user.commit('after', {})
    const after = user.git('rev-parse', 'HEAD^{tree}')
    expect(after).not.toBe(before)
    const { repository } = await openFetched({ remote: user.dir })
    const patch = await repository.patchBetween(before, after)
    expect(JSON.parse(JSON.stringify(patch))).toBe(patch)
    expect(await repository.applyPatch(before, patch)).toEqual({ tree: after })
  })

  it('of a tree and itself is empty', async () => {
    const user = userRepository({})
    const { repository, tree } = await openFetched({ remote: user.dir })
    expect(await repository.patchBetween(tree, tree)).toBe('')
  })
})
