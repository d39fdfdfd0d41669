import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { buildLocalIsolation } from '../../src/git/isolation.ts'
import { findForkPoint, hasNearbyAncestor } from '../../src/git/history.ts'
import type { Repository } from '../../src/git/repository.ts'
import { TreeDiffer } from '../../src/git/diff.ts'
import { addCommit, bareRemote, open, openFetched, userRepository } from './scratch.ts'

const CONTENT = ['a\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nd\n', 'something\nelse\n']
const PATHS = ['a', 'b', 'a/x', 'd/x', 'd/y', 'd/e/f', 'd-e']

/** A commit on earlier ones (by number), with some paths written or removed (no content). */
const step = fc.record({
  parents: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 2 }),
  edits: fc.uniqueArray(
    fc.record({ path: fc.constantFrom(...PATHS), content: fc.option(fc.constantFrom(...CONTENT)) }),
    { selector: ({ path }) => path, minLength: 0, maxLength: 3 },
  ),
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

async function history(repository: Repository, steps: readonly Step[]): Promise<string[]> {
  const blob = async (content: string) => ({
    mode: '100644' as const,
    oid: await repository.writeBlob(content),
  })
  const first = [
    { path: 'a', entry: await blob(CONTENT[0] ?? '') },
    { path: 'd/x', entry: await blob(CONTENT[3] ?? '') },
    { path: 'd/y', entry: await blob(CONTENT[0] ?? '') },
  ]
  const tree = await repository.replaceEntries(repository.emptyTree, first)
  const commits = [await repository.writeCommit({ tree, parents: [], message: 'root', date: 1 })]
  for (const [at, { parents, edits }] of steps.entries()) {
    const on = [...new Set(parents.map(number => commits[number % commits.length] ?? ''))]
    let edited = (await repository.commit(on[0] ?? '')).tree
    for (const { path, content } of edits)
      edited = await repository.replaceEntries(edited, [
        { path, entry: content === null ? null : await blob(content) },
      ])
    commits.push(await repository.writeCommit({ tree: edited, parents: on, message: `${at}`, date: at + 2 }))
  }
  return commits
}

function git(dir: string, ...args: string[]) {
  const { status, stdout } = spawnSync('git', ['-C', dir, ...args], { encoding: 'utf8' })
  return { status, lines: stdout.split('\n').filter(line => line !== '') }
}

async function twoOf(repository: Repository, steps: readonly Step[]): Promise<[string, string]> {
  const commits = await history(repository, steps)
  return [commits.at(-1) ?? '', commits.at(-2) ?? '']
}

describe('what a few objects answer is what git answers', () => {
  it('whether one commit contains another', async () => {
    const repository = await open({ remote: bareRemote().dir })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async steps => {
        const [a, b] = await twoOf(repository, steps)
        for (const [older, newer] of [
          [a, b],
          [b, a],
        ] as const) {
          const { status } = git(repository.dir, 'merge-base', '--is-ancestor', older, newer)
          expect(await hasNearbyAncestor(repository, newer, older)).toBe(status === 0)
          expect(await repository.listNotContained(newer, [older])).toEqual(status === 0 ? [] : [older])
        }
      }),
      { numRuns: 30 },
    )
  })

  it('where two histories parted, if that is one commit', async () => {
    const repository = await open({ remote: bareRemote().dir })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 9 }), async steps => {
        const [a, b] = await twoOf(repository, steps)
        const found = await findForkPoint(repository, a, b)
        if (found !== null) expect(git(repository.dir, 'merge-base', '--all', a, b).lines).toEqual([found])
      }),
      { numRuns: 30 },
    )
  })

  it('what a merge makes: the same tree, or the same conflicts', async () => {
    const repository = await open({ remote: bareRemote().dir })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 6 }), async steps => {
        const [a, b] = await twoOf(repository, steps)
        const merge = ['merge-tree', '--write-tree', '--name-only', '--no-messages', a, b]
        const { status, lines } = git(repository.dir, ...merge)
        const [tree, ...conflicts] = lines
        const expected = status === 0 ? { clean: true, tree } : { clean: false, conflicts }
        expect(await repository.mergeTree(a, b)).toEqual(expected)
      }),
      { numRuns: 150 },
    )
  })
})

describe('what a few objects cannot answer', () => {
  it.each([
    ['a file put into a folder that the other side renamed', { 'd/z': 'new\n' }],
    ['a file changed that the other side renamed', { 'd/x': CONTENT[1] ?? '' }],
    ['a folder where the other side put a file', { 'e/x/below': 'new\n' }],
  ])('is left to git: %s', async (_, theirs) => {
    const user = userRepository()
    user.commit('folder', { 'd/x': CONTENT[0] ?? '', 'd/y': CONTENT[3] ?? '' })
    const { repository, main } = await openFetched({ remote: user.dir })
    const moved = { 'd/x': null, 'd/y': null, 'e/x': CONTENT[0] ?? '', 'e/y': CONTENT[3] ?? '' }
    const [a, b] = [await addCommit(repository, main, moved), await addCommit(repository, main, theirs)]
    const { status, lines } = git(
      repository.dir,
      'merge-tree',
      '--write-tree',
      '--name-only',
      '--no-messages',
      a,
      b,
    )
    const [tree, ...conflicts] = lines
    const expected = status === 0 ? { clean: true, tree } : { clean: false, conflicts }
    expect(await repository.mergeTree(a, b)).toEqual(expected)
  })

  it('is left to git: what lies too far back', async () => {
    const repository = await open({ remote: bareRemote().dir })
    const tree = repository.emptyTree
    const line = async (root: string, length: number) => {
      let last = await repository.writeCommit({ tree, parents: [], message: root, date: 1 })
      const first = last
      for (let at = 0; at < length; at++)
        last = await repository.writeCommit({ tree, parents: [last], message: `${root} ${at}`, date: at + 2 })
      return { first, last }
    }
    const [one, other] = [await line('one', 200), await line('other', 200)]
    expect(await hasNearbyAncestor(repository, one.last, one.first)).toBeNull()
    expect(await repository.isAncestor(one.first, one.last)).toBe(true)
    expect(await hasNearbyAncestor(repository, one.last, other.last)).toBeNull()
    expect(await repository.isAncestor(other.last, one.last)).toBe(false)
    expect(await repository.listNotContained(one.last, [one.first, other.last])).toEqual([other.last])
  })
})

describe('the long-lived comparison of trees', () => {
  async function differ() {
    const repository = await open({ remote: bareRemote().dir })
    const { env, ...isolation } = buildLocalIsolation(repository.dir, { PATH: process.env['PATH'] ?? '' })
    const made = new TreeDiffer({ ...isolation, env: { ...env, GIT_DIR: repository.dir } })
    onTestFinished(() => made.close())
    const oid = await repository.writeBlob('x')
    const tree = await repository.writeTree([{ name: 'a', mode: '100644', oid }])
    return { repository, made, tree, empty: repository.emptyTree }
  }

  it('never takes what cannot be read for two trees that are the same', async () => {
    const { repository, made, tree, empty } = await differ()
    const commit = await repository.writeCommit({ tree, parents: [], message: 'c', date: 1 })
    const none = '0'.repeat(39).concat('1')
    const asked = [
      [tree, none],
      [none, tree],
      [commit, tree],
      [tree, commit],
      [commit, commit],
    ] as const
    expect(await Promise.all(asked.map(([from, to]) => made.compare(from, to)))).toEqual(
      asked.map(() => null),
    )
    await repository.writeTree([])
    expect(await made.compare(tree, tree)).toBe('')
    expect(await made.compare(empty, tree)).toContain('1\t0\ta\n')
    await expect(repository.diff(tree, none)).rejects.toThrow(none)
    expect(await repository.diff(commit, tree)).toEqual([])
  })

  it('sees what was written after it was started, and starts again when it was ended', async () => {
    const { repository, made, tree, empty } = await differ()
    await repository.writeTree([])
    expect(await made.compare(empty, tree)).toContain('\ta\n')
    const oid = await repository.writeBlob('later')
    const later = await repository.writeTree([{ name: 'b', mode: '100644', oid }])
    expect(await made.compare(empty, later)).toContain('\tb\n')
    await made.close()
    expect(await made.compare(empty, later)).toContain('\tb\n')
  })
})
