import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openFetched, userRepository } from './scratch.ts'
import { selectCases } from '../support/cases.ts'

const BODY = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n')

async function patched(patch: string, format = 'sha1') {
  const user = userRepository({ format })
  user.commit('body', { 'body.txt': `${BODY}\n`, 'src/run.sh': 'echo\n' })
  const { repository, tree } = await openFetched({ remote: user.dir })
  const result = await repository.applyPatch(tree, patch)
  expect(readdirSync(join(repository.dir, 'winnow-tmp'))).toEqual([])
  const files = 'tree' in result ? await repository.diff(tree, result.tree) : []
  return {
    user,
    repository,
    tree,
    result,
    files: files.map(({ status, path, newMode }) => `${status} ${path} ${newMode}`),
  }
}

const CHANGE = `--- a/src/a.txt
+++ b/src/a.txt
@@ -1,3 +1,3 @@
 1
-2
+two
 3
`

describe('a patch', () => {
  it.each(selectCases(['sha1', 'sha256']))('that fits is a new tree (%s)', async format => {
    const { files } = await patched(CHANGE, format)
    expect(files).toEqual(['M src/a.txt 100644'])
  })

  it('may lack its last newline', async () => {
    expect((await patched(CHANGE.trimEnd())).files).toEqual(['M src/a.txt 100644'])
  })

  it('creates, deletes, renames and makes executable', async () => {
    const { files } = await patched(`diff --git a/new.txt b/new.txt
new file mode 100755
--- /dev/null
+++ b/new.txt
@@ -0,0 +1 @@
+new
diff --git a/README.md b/README.md
deleted file mode 100644
--- a/README.md
+++ /dev/null
@@ -1 +0,0 @@
-hello
diff --git a/src/run.sh b/src/go.sh
similarity index 100%
rename from src/run.sh
rename to src/go.sh
`)
    expect(files).toEqual(['D README.md null', 'A new.txt 100755', 'A src/go.sh 100644', 'D src/run.sh null'])
  })

  it('made against an older file is merged three-way', async () => {
    const user = userRepository()
    user.commit('body', { 'body.txt': `${BODY}\n` })
    user.commit('change', { 'body.txt': `${BODY.replace('line 5\n', 'LINE 5\n')}\n` })
    const patch = `${user.git('diff', '--full-index', 'HEAD~1', 'HEAD')}\n`
    user.git('reset', '-q', '--hard', 'HEAD~1')
    user.commit('moved', { 'body.txt': `${BODY.replace('line 7\n', 'seven\n')}\n` })
    const { repository, tree } = await openFetched({ remote: user.dir })
    const result = await repository.applyPatch(tree, patch)
    if ('rejected' in result) throw new Error(result.rejected)
    const entry = await repository.findEntry(result.tree, 'body.txt')
    const text = (await repository.blob(entry?.oid ?? '')).toString()
    expect(text).toContain('LINE 5')
    expect(text).toContain('seven')
  })
})

describe('a patch that is rejected', () => {
  it('because it does not fit, in git’s words', async () => {
    const { result } = await patched(CHANGE.replace('-2', '-9'))
    expect(result).toEqual({
      rejected: 'error: patch failed: src/a.txt:1\nerror: src/a.txt: patch does not apply',
    })
  })

  it.each([
    ['outside the tree', '../outside.txt'],
    ['in .git', '.git/config'],
    ['at an absolute path', '/tmp/winnow-outside.txt'],
  ])('because it writes %s', async (_, path) => {
    const { result } = await patched(`--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`)
    expect(result).toEqual({ rejected: expect.stringContaining('invalid path') })
  })

  it('because it is no patch', async () => {
    expect((await patched('I made it faster!')).result).toEqual({
      rejected: expect.stringContaining('No valid patches'),
    })
    expect((await patched('')).result).toEqual({ rejected: expect.stringContaining('No valid patches') })
  })
})
