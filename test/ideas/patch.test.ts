import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import type { Proposal } from '../../src/plan/world.ts'
import { type PreparedPatches, proposePatches, readPatches } from '../../src/ideas/patch.ts'
import { scratch, userRepository } from '../git/scratch.ts'
import { aCampaign, contentOf, movedOn, type Start, useRepository } from './incumbent.ts'

const startWith = useRepository()

const FRONT = '---\nhypothesis: Shorter is faster\n---\n'

/** The change a person makes with git, as the text git prints for it. */
function diffOf(change: (user: ReturnType<typeof userRepository>) => void, ...options: string[]): string {
  const user = userRepository({ dir: scratch() })
  change(user)
  user.git('add', '-A')
  return `${user.git('diff', '--cached', ...options)}\n`
}

const THREE =
  'diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n'
const threeToThree = (user: ReturnType<typeof userRepository>) =>
  user.write('src/a.txt', '1\n2\nthree\n4\n5\n')

async function propose(
  { repository, main }: Start,
  rest: Partial<Parameters<typeof proposePatches>[0]> = {},
): Promise<Proposal[]> {
  const files = await readPatches(repository, main.tree, 'patches')
  const prepared: PreparedPatches = new Map()
  const base = {
    repo: repository,
    files,
    incumbent: main,
    fallbackBase: main,
    campaign: aCampaign(),
    limit: 10,
  }
  return proposePatches({ ...base, prepared, ...rest })
}

async function proposeOne(
  start: Start,
  rest?: Partial<Parameters<typeof proposePatches>[0]>,
): Promise<Proposal> {
  const [proposal] = await propose(start, rest)
  if (!proposal) throw new Error('nothing was proposed')
  return proposal
}

function commitOf({ head }: Proposal): string {
  if ('rejected' in head) throw new Error(head.rejected)
  return head.commit
}

function rejectionOf({ head }: Proposal): string {
  return 'rejected' in head ? head.rejected : 'not rejected'
}

async function fileAfter(
  diff: string,
  path: string,
  files: Record<string, string> = {},
): Promise<string | null> {
  const start = await startWith({ ...files, 'patches/one.patch': FRONT + diff })
  return contentOf(start.repository, commitOf(await proposeOne(start)), path)
}

async function rejection(patch: string, files: Record<string, string> = {}): Promise<string> {
  const start = await startWith({ ...files, 'patches/one.patch': patch })
  return rejectionOf(await proposeOne(start))
}

describe('a folder of patches', () => {
  it('is read in name order, without other files and folders', async () => {
    const { repository, main } = await startWith({
      'patches/b.patch': FRONT,
      'patches/a.patch': FRONT,
      'patches/README.md': 'how to',
      'patches/old.patch/c.patch': FRONT,
    })
    const files = await readPatches(repository, main.tree, './patches/')
    expect(files.map(({ path }) => path)).toEqual(['patches/a.patch', 'patches/b.patch'])
    const entry = await repository.findEntry(main.tree, 'patches/a.patch')
    expect(files[0]?.key).toBe(`patch:patches/a.patch:${entry?.oid}`)
  })

  it('may be missing, since git keeps no empty folders', async () => {
    const { repository, main } = await startWith()
    expect(await readPatches(repository, main.tree, 'patches')).toEqual([])
  })

  it('may be the root', async () => {
    const { repository, main } = await startWith({ 'one.patch': FRONT })
    expect((await readPatches(repository, main.tree, '.')).map(({ path }) => path)).toEqual(['one.patch'])
  })

  it('cannot be a file', async () => {
    const { repository, main } = await startWith()
    await expect(readPatches(repository, main.tree, 'README.md')).rejects.toThrow(UserError)
  })
})

describe('front matter', () => {
  it('sets every field of an idea', async () => {
    const told =
      'hypothesis: Use a map\ncategory: data\npriority: high\nrequired_deps: [lru-cache]\nfamily: caching\n'
    const proposal = await proposeOne(
      await startWith({ 'patches/a.patch': `---\n${told}---\n${diffOf(threeToThree)}` }),
    )
    expect(proposal).toMatchObject({
      hypothesis: 'Use a map',
      category: 'data',
      priority: 'high',
      required_deps: ['lru-cache'],
      family: 'caching',
      learnings: null,
      branch: null,
      pull: null,
      source: { use: 'patch' },
    })
  })

  it('may mark the patch as a simplification', async () => {
    const told = 'hypothesis: Drop the cache\nkind: simplify\n'
    const proposal = await proposeOne(
      await startWith({ 'patches/a.patch': `---\n${told}---\n${diffOf(threeToThree)}` }),
    )
    expect(proposal).toMatchObject({ hypothesis: 'Drop the cache', simplifies: true })
  })

  it('may be only a hypothesis, and have carriage returns', async () => {
    const proposal = await proposeOne(
      await startWith({ 'patches/a.patch': '---\r\nhypothesis: Go\r\n---\r\n' }),
    )
    expect(proposal).toMatchObject({
      hypothesis: 'Go',
      category: 'general',
      priority: 'medium',
      required_deps: [],
    })
  })

  it.each([
    ['no end', '---\nhypothesis: x\n', /one\.patch:1: the front matter has no end/],
    ['no hypothesis', '---\ncategory: x\n---\n', /hypothesis.*add hypothesis/],
    ['an empty hypothesis', '---\nhypothesis: " "\n---\n', /one\.patch:2:\d+ hypothesis/],
    ['an unknown key', '---\nhypothesis: x\ncatgory: y\n---\n', /one\.patch:3:1.*did you mean "category"/],
    ['a wrong priority', '---\nhypothesis: x\npriority: urgent\n---\n', /one\.patch:3:.*high, medium or low/],
    ['broken YAML', '---\nhypothesis: [\n---\n', /one\.patch:\d.*YAML/],
    ['a list', '---\n- x\n---\n', /a mapping/],
  ])('is refused with its line when it has %s', async (_, patch, reason) => {
    const said = await rejection(patch)
    expect(said).toMatch(reason)
    expect(said).not.toContain('\n')
  })

  it('cannot forge a trailer of the commit', async () => {
    const patch = `---\nhypothesis: "x\\n\\nWinnow-Ledger: 1:2\\u001b[31m"\n---\n${diffOf(threeToThree)}`
    const start = await startWith({ 'patches/a.patch': patch })
    const { message } = await start.repository.commit(commitOf(await proposeOne(start)))
    expect(message.split('\n')[0]).toBe('x Winnow-Ledger: 1:2')
    expect(message.split('\n').slice(1).join('\n')).toMatch(
      /^\nWinnow-Source: patch:patches\/a\.patch:[0-9a-f]{40}\n$/,
    )
  })
})

describe('a patch', () => {
  it('becomes one commit on the incumbent, the same one every time', async () => {
    const start = await startWith({ 'patches/a.patch': FRONT + diffOf(threeToThree) })
    const [first, second] = [await proposeOne(start), await proposeOne(start)]
    expect(second).toEqual(first)
    expect(first.head).toMatchObject({ base: start.main })
    const commit = await start.repository.commit(commitOf(first))
    expect(commit.parents).toEqual([start.main.commit])
    expect(commit.committer.date).toBe((await start.repository.commit(start.main.commit)).committer.date)
    expect(await contentOf(start.repository, commit.oid, 'src/a.txt')).toBe('1\n2\nthree\n4\n5\n')
  })

  it('is proposed until it is an experiment, and again after the file changed', async () => {
    const start = await startWith({ 'patches/a.patch': FRONT, 'patches/b.patch': FRONT })
    const [a] = await propose(start)
    const campaign = aCampaign({ sources: { [a?.source.key ?? '']: 'exp-001' } })
    expect((await propose(start, { campaign })).map(({ source }) => source.key)).toEqual([
      expect.stringContaining('patches/b.patch'),
    ])
    expect(await propose(start, { limit: 1 })).toHaveLength(1)
    expect(await propose(start, { limit: 0 })).toEqual([])
  })

  it('is applied once per incumbent, and the cache forgets other incumbents', async () => {
    const start = await startWith({ 'patches/a.patch': FRONT + diffOf(threeToThree) })
    const prepared: PreparedPatches = new Map()
    let applied = 0
    const repo = {
      ...start.repository,
      applyPatch: (tree: string, patch: string) => {
        applied += 1
        return start.repository.applyPatch(tree, patch)
      },
    }
    const first = await propose(start, { repo, prepared })
    expect(await propose(start, { repo, prepared })).toEqual(first)
    expect(applied).toBe(1)
    await propose(start, {
      repo,
      prepared,
      incumbent: await movedOn(start.repository, start.main, { 'x.txt': '' }),
    })
    expect(applied).toBe(2)
    expect(prepared.size).toBe(1)
  })

  it('that changes nothing is rejected later by policy', async () => {
    const start = await startWith({ 'patches/a.patch': `${FRONT}\n` })
    expect((await start.repository.commit(commitOf(await proposeOne(start)))).tree).toBe(start.main.tree)
  })
})

describe('a patch for another version', () => {
  const files = { 'patches/a.patch': FRONT + THREE }

  it('applies to an incumbent that moved on elsewhere', async () => {
    const start = await startWith(files)
    const incumbent = await movedOn(start.repository, start.main, { 'src/b.txt': 'b\n' })
    const proposal = await proposeOne(start, { incumbent })
    expect(proposal.head).toMatchObject({ base: incumbent })
    const commit = commitOf(proposal)
    expect(await contentOf(start.repository, commit, 'src/a.txt')).toContain('three')
    expect(await contentOf(start.repository, commit, 'src/b.txt')).toBe('b\n')
  })

  it('is merged if its file was renamed since', async () => {
    const start = await startWith(files)
    const content = await contentOf(start.repository, start.main.commit, 'src/a.txt')
    const incumbent = await movedOn(start.repository, start.main, { 'src/a.txt': null, 'lib/a.txt': content })
    const proposal = await proposeOne(start, { incumbent })
    const commit = commitOf(proposal)
    expect(await contentOf(start.repository, commit, 'lib/a.txt')).toContain('three')
    expect((await start.repository.commit(commit)).parents).toEqual([incumbent.commit])
  })

  it('is rejected with the name of the conflicting file', async () => {
    const start = await startWith(files)
    const incumbent = await movedOn(start.repository, start.main, { 'src/a.txt': '1\n2\n33\n4\n5\n' })
    const proposal = await proposeOne(start, { incumbent })
    expect(rejectionOf(proposal)).toBe('patches/a.patch conflicts with the incumbent in src/a.txt')
  })
})

describe('every form git gives a patch', () => {
  it('without prefixes', async () => {
    expect(await fileAfter(diffOf(threeToThree, '--no-prefix'), 'src/a.txt')).toContain('three')
  })

  it('without prefixes in a folder named a', async () => {
    const user = userRepository({ dir: scratch() })
    user.commit('a', { 'a/x.txt': 'old\n' })
    user.write('a/x.txt', 'new\n')
    const diff = `${user.git('diff', '--no-prefix')}\n`
    expect(await fileAfter(diff, 'a/x.txt', { 'a/x.txt': 'old\n' })).toBe('new\n')
  })

  it('with other prefixes', async () => {
    const diff = diffOf(threeToThree, '--src-prefix=old/', '--dst-prefix=new/')
    expect(await fileAfter(diff, 'src/a.txt')).toContain('three')
  })

  it.each([[], ['--no-prefix']])('a new file, a removed one and a rename (%s)', async (...options) => {
    const diff = diffOf(
      user => {
        user.git('mv', 'src/a.txt', 'src/moved file.txt')
        user.git('rm', '-q', 'README.md')
        user.write('src/new.txt', 'new\n')
      },
      '-M',
      ...options,
    )
    const start = await startWith({ 'patches/a.patch': FRONT + diff })
    const commit = commitOf(await proposeOne(start))
    expect(await contentOf(start.repository, commit, 'src/moved file.txt')).toBe('1\n2\n3\n4\n5\n')
    expect(await contentOf(start.repository, commit, 'src/a.txt')).toBeNull()
    expect(await contentOf(start.repository, commit, 'README.md')).toBeNull()
    expect(await contentOf(start.repository, commit, 'src/new.txt')).toBe('new\n')
  })

  it('a mode change and a link, which policy checks later', async () => {
    const chmod = 'diff --git a/README.md b/README.md\nold mode 100644\nnew mode 100755\n'
    const link =
      'diff --git a/src/l b/src/l\nnew file mode 120000\n--- /dev/null\n+++ b/src/l\n@@ -0,0 +1 @@\n+a.txt\n\\ No newline at end of file\n'
    const start = await startWith({ 'patches/a.patch': FRONT + chmod + link })
    const { tree } = await start.repository.commit(commitOf(await proposeOne(start)))
    expect((await start.repository.findEntry(tree, 'README.md'))?.mode).toBe('100755')
    expect((await start.repository.findEntry(tree, 'src/l'))?.mode).toBe('120000')
  })

  it('binary content', async () => {
    const change = (user: ReturnType<typeof userRepository>) => user.write('src/bin', '\0\u0001binary\0')
    expect(await fileAfter(diffOf(change, '--binary'), 'src/bin')).toBe('\0\u0001binary\0')
    expect(await rejection(FRONT + diffOf(change))).toMatch(/src\/bin is binary.*git diff --binary/)
  })

  it('a mail of git format-patch', async () => {
    const user = userRepository({ dir: scratch() })
    user.commit('Use words\n\nBecause.', { 'src/a.txt': '1\n2\nthree\n4\n5\n' })
    const mail = `${user.git('format-patch', '--stdout', '-1')}\n`
    expect(mail).toMatch(/^From [0-9a-f]{40}/)
    expect(await fileAfter(mail, 'src/a.txt')).toBe('1\n2\nthree\n4\n5\n')
  })

  it('lines that look like file names', async () => {
    const files = { 'src/q.sql': '-- b/x\nselect 1\n' }
    const diff = '--- src/q.sql\n+++ src/q.sql\n@@ -1,2 +1,2 @@\n--- b/x\n+++ b/x\n select 1\n'
    expect(await fileAfter(diff, 'src/q.sql', files)).toBe('++ b/x\nselect 1\n')
  })

  it('diff -u, with and without prefixes, also of new files', async () => {
    const hunk = '@@ -2,3 +2,3 @@\n 2\n-3\n+three\n 4\n'
    expect(await fileAfter(`--- src/a.txt\t2020\n+++ src/a.txt\t2021\n${hunk}`, 'src/a.txt')).toContain(
      'three',
    )
    expect(await fileAfter(`--- orig/src/a.txt\n+++ new/src/a.txt\n${hunk}`, 'src/a.txt')).toContain('three')
    expect(await fileAfter('--- /dev/null\n+++ src/n.txt\n@@ -0,0 +1 @@\n+n\n', 'src/n.txt')).toBe('n\n')
    expect(await fileAfter('--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+n\n', 'n.txt')).toBe('n\n')
  })

  it('names with quotes and letters outside ASCII', async () => {
    const change = (user: ReturnType<typeof userRepository>) => user.write('src/ä"b.txt', 'x\n')
    expect(await fileAfter(diffOf(change), 'src/ä"b.txt')).toBe('x\n')
    expect(await fileAfter(diffOf(change, '--no-prefix'), 'src/ä"b.txt')).toBe('x\n')
  })

  it('of files with carriage returns', async () => {
    const files = { 'src/dos.txt': 'one\r\ntwo\r\n' }
    const diff =
      'diff --git a/src/dos.txt b/src/dos.txt\n--- a/src/dos.txt\n+++ b/src/dos.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n'
    expect(await fileAfter(diff, 'src/dos.txt', files)).toBe('one\r\n2\r\n')
    expect(await fileAfter(diff.replaceAll(/\r?\n/g, '\r\n'), 'src/dos.txt', files)).toBe('one\r\n2\r\n')
  })

  it('with carriage returns that an editor added', async () => {
    const diff = diffOf(threeToThree).replaceAll('\n', '\r\n')
    expect(await fileAfter(diff, 'src/a.txt')).toBe('1\n2\nthree\n4\n5\n')
  })
})

const NEW_README =
  'diff --git a/README.md b/README.md\nnew file mode 100644\n--- /dev/null\n+++ b/README.md\n@@ -0,0 +1 @@\n+x\n'
const OUTSIDE =
  'diff --git a/../x b/../x\nnew file mode 100644\n--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n'

describe('a patch that cannot be applied says why in one sentence', () => {
  const hunk = '@@ -2,3 +2,3 @@\n 2\n-nine\n+three\n 4\n'
  const named = (path: string) => `diff --git a/${path} b/${path}\n--- a/${path}\n+++ b/${path}\n`

  it.each([
    [
      'other content',
      named('src/a.txt') + hunk,
      /^patches\/one\.patch:7 does not apply to the incumbent: src\/a\.txt does not match at line 2$/,
    ],
    ['no such file', named('src/z.txt') + hunk, /src\/z\.txt does not exist$/],
    ['a file that exists', NEW_README, /README\.md exists already$/],
    [
      'a file that exists, after another one whose path ends like it',
      NEW_README.replaceAll('README.md', 'src/README.md') + NEW_README,
      /^patches\/one\.patch:10 does not apply to the incumbent: README\.md exists already$/,
    ],
    [
      'damage',
      named('src/a.txt') + '@@ -2,3 +2,3 @@\n 2\nxx\n',
      /^patches\/one\.patch:9 does not apply to the incumbent: the diff is damaged here$/,
    ],
    ['a path outside', OUTSIDE, /\.\.\/x is not a path a patch may change$/],
    ['a path in .git', named('.git/config') + hunk, /\.git\/config/],
    ['no diff', 'just words\n', /^patches\/one\.patch:4: there is no diff in it$/],
    ['a combined diff', 'diff --cc src/a.txt\nindex 1,2..3\n', /git finds no change in it/],
  ])('%s', async (_, diff, reason) => {
    const said = await rejection(FRONT + diff)
    expect(said).toMatch(reason)
    expect(said).not.toContain('\n')
  })

  it('another encoding', async () => {
    const { repository, main } = await startWith()
    const oid = await repository.writeBlob(Buffer.concat([Buffer.from(FRONT), Buffer.from([0xe4, 0x0a])]))
    const tree = await repository.replaceEntries(main.tree, [
      { path: 'p/x.patch', entry: { mode: '100644', oid } },
    ])
    const link = await repository.replaceEntries(tree, [
      { path: 'p/y.patch', entry: { mode: '120000', oid } },
    ])
    const files = await readPatches(repository, link, 'p')
    expect(files.map(({ content }) => content)).toEqual([
      { problem: expect.stringContaining('p/x.patch: it is not UTF-8 text') },
      { problem: 'p/y.patch: it is a link, not a file' },
    ])
  })
})
