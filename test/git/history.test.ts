import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { splitArguments } from '../../src/git/runner.ts'
import { addCommit, openFetched, userRepository } from './scratch.ts'

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n'

async function forked(ours: Record<string, string | null>, theirs: Record<string, string | null>) {
  const user = userRepository()
  user.commit('lines', { 'lines.txt': LINES })
  const opened = await openFetched({ remote: user.dir })
  const { repository, main } = opened
  return {
    ...opened,
    ours: await addCommit(repository, main, ours),
    theirs: await addCommit(repository, main, theirs),
  }
}

describe('merging on objects', () => {
  it('combines changes to different places of one file', async () => {
    const { repository, ours, theirs } = await forked(
      { 'lines.txt': LINES.replace('one', 'ONE') },
      { 'lines.txt': LINES.replace('seven', 'SEVEN') },
    )
    const merged = await repository.mergeTree(ours, theirs)
    if (!merged.clean) throw new Error('expected a clean merge')
    const entry = await repository.findEntry(merged.tree, 'lines.txt')
    expect((await repository.blob(entry?.oid ?? '')).toString()).toBe(
      LINES.replace('one', 'ONE').replace('seven', 'SEVEN'),
    )
  })

  it('names every conflicting path, whatever its characters', async () => {
    const odd = 'ünï "quoted"\ttab.txt'
    const { repository, ours, theirs } = await forked(
      { 'lines.txt': 'ours\n', [odd]: 'ours\n' },
      { 'lines.txt': 'theirs\n', [odd]: 'theirs\n' },
    )
    const merged = await repository.mergeTree(ours, theirs)
    expect(merged).toEqual({ clean: false, conflicts: ['lines.txt', odd] })
  })

  it('a deletion against a change is a conflict', async () => {
    const { repository, ours, theirs } = await forked({ 'lines.txt': null }, { 'lines.txt': 'theirs\n' })
    expect(await repository.mergeTree(ours, theirs)).toEqual({ clean: false, conflicts: ['lines.txt'] })
  })

  it('with an ancestor is the newer tree, as git itself says', async () => {
    const { repository, main, ours } = await forked({ a: '1' }, {})
    const further = await addCommit(repository, ours, { b: '2' })
    const { tree } = await repository.commit(further)
    for (const [a, b] of [
      [ours, further],
      [further, ours],
      [main, further],
      [further, further],
    ] as const) {
      expect(await repository.mergeTree(a, b)).toEqual({ clean: true, tree })
    }
  })

  it('without common history is an error that says what to do', async () => {
    const { repository, main, tree } = await forked({}, {})
    const orphan = await repository.writeCommit({ tree, parents: [], message: 'orphan', date: 5 })
    await expect(repository.mergeTree(main, orphan)).rejects.toMatchObject({
      name: 'UserError',
      fix: expect.stringContaining('--unshallow'),
    })
  })
})

describe('a search of a tree', () => {
  it('names the files, whatever their characters', async () => {
    const odd = 'docs/ünï "quoted"\ttab: 1.txt'
    const { repository, ours } = await forked({ [odd]: 'a needle\n', 'docs/a.txt': 'a needle\n' }, {})
    const { tree } = await repository.commit(ours)
    expect(await repository.grep(tree, ['needle'])).toEqual(['docs/a.txt', odd])
  })
})

describe('the difference of two trees', () => {
  it('has status, modes, ids and counted lines', async () => {
    const { repository, tree } = await forked({}, {})
    const oid = await repository.writeBlob('a\nb\n')
    const binary = await repository.writeBlob(Buffer.from([0, 1, 2, 255]))
    const link = await repository.writeBlob('lines.txt')
    const readme = await repository.findEntry(tree, 'README.md')
    const changed = await repository.replaceEntries(tree, [
      { path: 'new.txt', entry: { mode: '100755', oid } },
      { path: 'image', entry: { mode: '100644', oid: binary } },
      { path: 'lines.txt', entry: { mode: '120000', oid: link } },
      { path: 'src/a.txt', entry: null },
      { path: 'README.md', entry: { mode: '100755', oid: readme?.oid ?? '' } },
    ])
    const found = await repository.diff(tree, changed)
    expect(
      found.map(({ status, path, oldMode, newMode, added, deleted }) => [
        status,
        path,
        oldMode,
        newMode,
        added,
        deleted,
      ]),
    ).toEqual([
      ['M', 'README.md', '100644', '100755', 0, 0],
      ['A', 'image', null, '100644', null, null],
      ['T', 'lines.txt', '100644', '120000', 1, 7],
      ['A', 'new.txt', null, '100755', 2, 0],
      ['D', 'src/a.txt', '100644', null, 0, 5],
    ])
    expect(found[3]).toMatchObject({ oldOid: null, newOid: oid })
    expect(await repository.diff(tree, tree)).toEqual([])
  })

  it('a renamed file is one removed and one added', async () => {
    const { repository, tree } = await forked({}, {})
    const entry = await repository.findEntry(tree, 'lines.txt')
    const moved = await repository.replaceEntries(tree, [
      { path: 'lines.txt', entry: null },
      { path: 'moved.txt', entry },
    ])
    expect((await repository.diff(tree, moved)).map(({ status, path }) => `${status} ${path}`)).toEqual([
      'D lines.txt',
      'A moved.txt',
    ])
  })

  it('keeps every path as it is', async () => {
    const { repository } = await forked({}, {})
    const oid = await repository.writeBlob('x')
    const name = fc
      .string({ minLength: 1, maxLength: 12, unit: 'binary' })
      .filter(text => /^[^/\0]+$/.test(text) && !/\p{Surrogate}/u.test(text) && !/^\.{1,2}$/.test(text))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 6 }), async names => {
        const tree = await repository.writeTree(names.map(name => ({ name, mode: '100644', oid })))
        const found = await repository.diff(repository.emptyTree, tree)
        expect(found.map(({ path }) => path).sort()).toEqual([...names].sort())
      }),
      { numRuns: 40 },
    )
  })
})

describe('walking history', () => {
  it('knows ancestors and merge bases near and far', async () => {
    const { repository, main, ours, theirs } = await forked({ a: '1' }, { b: '1' })
    const further = await addCommit(repository, ours, { c: '1' })
    expect(await repository.isAncestor(main, main)).toBe(true)
    expect(await repository.isAncestor(main, ours)).toBe(true)
    expect(await repository.isAncestor(main, further)).toBe(true)
    expect(await repository.isAncestor(further, main)).toBe(false)
    expect(await repository.isAncestor(theirs, further)).toBe(false)
    expect(await repository.mergeBase(further, theirs)).toBe(main)
    expect(await repository.mergeBase(main, further)).toBe(main)
    const orphan = await repository.writeCommit({
      tree: repository.emptyTree,
      parents: [],
      message: 'o',
      date: 1,
    })
    expect(await repository.mergeBase(orphan, main)).toBeNull()
  })

  it('knows what a commit contains whatever their dates are', async () => {
    const { repository, main, tree } = await forked({ a: '1' }, { b: '1' })
    const add = (parents: string[], date: number) =>
      repository.writeCommit({ tree, parents, message: `at ${date}`, date })
    // Made on a machine whose clock is ahead, and far below the tip.
    const ahead = await add([main], 2_000_000_000)
    let tip = ahead
    for (let at = 0; at < 80; at++) tip = await add([tip], 1_700_000_000 + at)
    const other = await add([main], 2_000_000_001)
    expect(await repository.isAncestor(ahead, tip)).toBe(true)
    expect(await repository.isAncestor(other, tip)).toBe(false)
    expect(await repository.listNotContained(tip, [ahead, other, main])).toEqual([other])
  })
})

describe('many arguments', () => {
  it('are searched for although they do not fit into one command', async () => {
    const { repository, main, tree } = await forked({ a: 'apple' }, { b: 'pear' })
    const patterns = Array.from({ length: 4_000 }, (_, at) => `${at}x`.padEnd(1_000, 'x'))
    expect(await repository.grep(tree, [...patterns, 'f[io]ve', 'one'])).toEqual(['lines.txt'])
    expect(await repository.grep(tree, patterns)).toEqual([])
    expect(
      await repository.listNotContained(
        main,
        Array.from({ length: 60_000 }, () => main),
      ),
    ).toEqual([])
  })

  it('are split by their bytes, and none is lost', () => {
    const names = Array.from({ length: 20_000 }, (_, at) => `ü${at}`)
    const parts = splitArguments(names, name => name)
    expect(parts.flat()).toEqual(names)
    expect(parts.length).toBeGreaterThan(1)
    for (const part of parts) expect(Buffer.byteLength(part.join('-e '))).toBeLessThan(128 * 1024)
    expect(splitArguments([], name => name)).toEqual([])
    expect(splitArguments(['x'.repeat(200_000), 'y'], name => name)).toHaveLength(2)
  })
})
