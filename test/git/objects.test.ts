import { chmodSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { serializeTree } from '../../src/git/tree.ts'
import { addCommit, bareRemote, gitIn, open, openFetched, userRepository } from './scratch.ts'

describe.each(['sha1', 'sha256'])('objects written in process (%s)', format => {
  it('have the ids git gives them', async () => {
    const repository = await open({ remote: bareRemote({ format }).dir })
    const git = gitIn(repository.dir)
    const blob = await repository.writeBlob('hello\n')
    const tree = await repository.writeTree([
      { name: 'b', mode: '100755', oid: blob },
      { name: 'a', mode: '100644', oid: blob },
      { name: 'link', mode: '120000', oid: blob },
    ])
    const commit = await repository.writeCommit({ tree, parents: [], message: 'one', date: 1_700_000_000 })
    expect(git('cat-file', 'blob', blob)).toBe('hello')
    expect(git('ls-tree', tree)).toBe(
      `100644 blob ${blob}\ta\n100755 blob ${blob}\tb\n120000 blob ${blob}\tlink`,
    )
    expect(git('log', '-1', '--format=%an <%ae> %at %ai|%cn|%B', commit)).toBe(
      'winnow <winnow@localhost> 1700000000 2023-11-14 22:13:20 +0000|winnow|one',
    )
    git('fsck', '--strict', '--no-dangling')
  })

  it('include the empty tree', async () => {
    const repository = await open({ remote: bareRemote({ format }).dir })
    expect(await repository.writeTree([])).toBe(repository.emptyTree)
    expect(await repository.tree(repository.emptyTree)).toEqual([])
    expect(repository.zero).toBe('0'.repeat(repository.emptyTree.length))
    expect(repository.objectFormat).toBe(format)
  })
})

describe('a commit', () => {
  it('is the same commit for the same facts', async () => {
    const { repository, main, tree } = await openFetched({ remote: userRepository().dir })
    const facts = { tree, parents: [main], message: 'again', date: 12 }
    expect(await repository.writeCommit(facts)).toBe(await repository.writeCommit(facts))
  })

  it('is read with its people, its dates and a signature that is not a message', async () => {
    const user = userRepository()
    const raw = user
      .git('cat-file', 'commit', 'HEAD')
      .replace(/\n\n/, '\ngpgsig -----BEGIN\n \n line\n -----END\n\n')
    writeFileSync(join(user.dir, '..', 'raw'), `${raw}\n`)
    const signed = user.git('hash-object', '-t', 'commit', '-w', join(user.dir, '..', 'raw'))
    user.git('update-ref', 'refs/heads/signed', signed)
    const { repository } = await openFetched({ remote: user.dir })
    await repository.fetch([{ ref: 'refs/heads/signed', oid: signed }])
    expect(await repository.commit(signed)).toEqual({
      oid: signed,
      tree: user.git('rev-parse', 'HEAD^{tree}'),
      parents: [],
      author: { name: 'A User', email: 'user@example.com', date: 1_700_000_000 },
      committer: { name: 'A User', email: 'user@example.com', date: 1_700_000_000 },
      signature: 'other',
      message: 'first\n',
    })
  })

  it('refuses a date or a message git could not hold', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    await expect(
      repository.writeCommit({ tree, parents: [], message: 'x', date: Number.NaN }),
    ).rejects.toThrow('whole seconds')
    await expect(repository.writeCommit({ tree, parents: [], message: 'a\0b', date: 1 })).rejects.toThrow(
      'NUL',
    )
  })
})

describe('reading', () => {
  it('says what is missing and what is something else', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    const absent = 'f'.repeat(40)
    expect(await repository.has(absent)).toBe(false)
    await expect(repository.blob(absent)).rejects.toThrow(`blob ${absent} is not in`)
    await expect(repository.commit(tree)).rejects.toThrow('is a tree, not a commit')
    await expect(repository.blob('HEAD')).rejects.toThrow('not a git object id')
  })

  it('answers many at once in order, large blobs among them', async () => {
    const repository = await open({ remote: bareRemote().dir })
    const big = Buffer.alloc(3_000_000, 'line of text\n')
    const oids = await Promise.all(['a', big, '', '\0\n\0'].map(content => repository.writeBlob(content)))
    const read = await Promise.all(oids.map(oid => repository.blob(oid)))
    expect(read.map(content => content.length)).toEqual([1, 3_000_000, 0, 3])
    expect(read[1]?.equals(big)).toBe(true)
  })

  it('finds a path, and what is not one', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    expect(await repository.findEntry(tree, 'src/a.txt')).toMatchObject({
      type: 'blob',
      name: 'a.txt',
      mode: '100644',
    })
    expect(await repository.findEntry(tree, 'src')).toMatchObject({ type: 'tree' })
    expect(await repository.findEntry(tree, '')).toMatchObject({ type: 'tree', oid: tree })
    for (const path of ['src/b', 'nope/x', 'README.md/x'])
      expect(await repository.findEntry(tree, path)).toBeNull()
  })
})

describe('a tree edit', () => {
  it('sets, removes, and drops directories that became empty', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    const oid = await repository.writeBlob('new\n')
    const edited = await repository.replaceEntries(tree, [
      { path: 'src/a.txt', entry: null },
      { path: 'lib/deep/b.txt', entry: { mode: '100755', oid } },
      { path: 'nothing/there', entry: null },
    ])
    expect(gitIn(repository.dir)('ls-tree', '-r', '--name-only', edited)).toBe('README.md\nlib/deep/b.txt')
  })

  it('turns a file into a directory and back', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    const oid = await repository.writeBlob('x')
    const there = await repository.replaceEntries(tree, [
      { path: 'README.md', entry: null },
      { path: 'README.md/inner', entry: { mode: '100644', oid } },
    ])
    expect((await repository.findEntry(there, 'README.md/inner'))?.oid).toBe(oid)
    const readme = await repository.findEntry(tree, 'README.md')
    const back = await repository.replaceEntries(there, [
      { path: 'README.md/inner', entry: null },
      { path: 'README.md', entry: readme },
    ])
    expect(back).toBe(tree)
  })

  it('refuses to set one path twice, and names that leave the tree', async () => {
    const { repository, tree } = await openFetched({ remote: userRepository().dir })
    const entry = { mode: '100644', oid: await repository.writeBlob('x') } as const
    await expect(
      repository.replaceEntries(tree, [
        { path: 'a', entry },
        { path: 'a/b', entry },
      ]),
    ).rejects.toThrow('both set a')
    for (const path of ['../x', '/x', 'a//b', '.']) {
      await expect(repository.replaceEntries(tree, [{ path, entry }])).rejects.toThrow('cannot be a name')
    }
  })

  it('sets and removes like git update-index would, whatever the paths', async () => {
    const { repository } = await openFetched({ remote: userRepository().dir })
    const git = gitIn(repository.dir)
    const name = fc.stringMatching(/^[a-c.é-]{1,2}$/).filter(text => !/^\.+$/.test(text))
    const paths = fc.uniqueArray(
      fc.array(name, { minLength: 1, maxLength: 3 }).map(parts => parts.join('/')),
      { maxLength: 12 },
    )
    const oid = await repository.writeBlob('x')
    await fc.assert(
      fc.asyncProperty(paths, async all => {
        const wanted = all.filter(path => !all.some(other => other.startsWith(`${path}/`)))
        const set = wanted.map(path => ({ path, entry: { mode: '100644', oid } as const }))
        const tree = await repository.replaceEntries(repository.emptyTree, set)
        const listed = git('-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', tree)
        expect(
          listed
            .split('\n')
            .filter(line => line !== '')
            .sort(),
        ).toEqual([...wanted].sort())
        const removed = set.map(({ path }) => ({ path, entry: null }))
        expect(await repository.replaceEntries(tree, removed)).toBe(repository.emptyTree)
      }),
      { numRuns: 25 },
    )
  })

  it('keeps a name that is not UTF-8 as it is', async () => {
    const { repository } = await openFetched({ remote: userRepository().dir })
    const oid = await repository.writeBlob('x')
    const raw = Buffer.concat([Buffer.from('100644 caf'), Buffer.from([0xe9, 0]), Buffer.from(oid, 'hex')])
    writeFileSync(join(repository.dir, 'raw-tree'), raw)
    const tree = gitIn(repository.dir)('hash-object', '-t', 'tree', '-w', 'raw-tree')
    const grown = await repository.replaceEntries(tree, [{ path: 'z', entry: { mode: '100644', oid } }])
    expect(await repository.replaceEntries(grown, [{ path: 'z', entry: null }])).toBe(tree)
    const [entry] = await repository.diff(repository.emptyTree, tree)
    expect(await repository.findEntry(tree, entry?.path ?? '')).toMatchObject({ oid })
  })

  it('sorts as git does: a directory as if its name ended in a slash', () => {
    const oid = '0'.repeat(40)
    const { bytes } = serializeTree([
      { name: 'a', mode: '040000', oid },
      { name: 'a.b', mode: '100644', oid },
      { name: 'a0', mode: '100644', oid },
    ])
    expect(bytes.toString('latin1').match(/a[.b0]*(?=\0)/g)).toEqual(['a.b', 'a', 'a0'])
  })
})

describe('an object store that cannot be written', () => {
  it('is named in the error, and nothing half-written is left', async () => {
    const repository = await open({ remote: bareRemote().dir })
    const objects = join(repository.dir, 'objects')
    chmodSync(dirname(repository.dir), 0o755)
    const folders = readdirSync(objects).filter(name => name.length === 2)
    for (const name of ['', ...folders]) chmodSync(join(objects, name), 0o555)
    const written = asUnprivileged(() => repository.writeBlob('x'))
    await expect(written).rejects.toThrow(UserError)
    await expect(written).rejects.toThrow(
      `git objects cannot be written to ${objects}: the directory is not writable`,
    )
    for (const name of ['', ...folders]) chmodSync(join(objects, name), 0o755)
    expect(folders.flatMap(name => readdirSync(join(objects, name)))).toEqual([])
  })

  it('is named too when git itself wanted to write', async () => {
    const { repository, main } = await openFetched({ remote: userRepository().dir })
    const ours = await addCommit(repository, main, { 'src/a.txt': 'one\n2\n3\n4\n5\n' })
    const theirs = await addCommit(repository, main, { 'src/a.txt': '1\n2\n3\n4\nfive\n' })
    // Root may write everywhere, but not into a folder that is a file.
    const objects = join(repository.dir, 'objects')
    for (const name of readdirSync(objects).filter(name => name.length === 2)) {
      if (readdirSync(join(objects, name)).length > 0) continue
      rmdirSync(join(objects, name))
      writeFileSync(join(objects, name), '')
    }
    const merged = repository.mergeTree(ours, theirs)
    await expect(merged).rejects.toThrow(`git objects cannot be written to ${repository.dir}`)
    await expect(merged).rejects.toThrow(UserError)
  })

  it('an empty file left by a power cut is replaced', async () => {
    const repository = await open({ remote: bareRemote().dir })
    const oid = await repository.writeBlob('x')
    const file = join(repository.dir, 'objects', oid.slice(0, 2), oid.slice(2))
    chmodSync(file, 0o644)
    writeFileSync(file, '')
    await repository.writeBlob('x')
    expect((await repository.blob(oid)).toString()).toBe('x')
  })
})

/** Root may write everywhere, so for the moment of the call the test is nobody. */
async function asUnprivileged<T>(work: () => Promise<T>): Promise<T> {
  const root = process.geteuid?.() === 0
  if (root) process.seteuid?.(65534)
  try {
    return await work()
  } finally {
    if (root) process.seteuid?.(0)
  }
}
