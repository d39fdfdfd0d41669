import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Mode } from '../../src/git/tree.ts'
import type { Repository } from '../../src/git/repository.ts'
import { bareRemote, open, scratch } from './scratch.ts'

type Files = Record<string, string | { link: string } | { run: string } | { module: string }>

async function treeOf(repository: Repository, files: Files): Promise<string> {
  const changes = []
  for (const [path, file] of Object.entries(files))
    changes.push({ path, entry: await entryOf(repository, file) })
  return repository.replaceEntries(repository.emptyTree, changes)
}

async function entryOf(repository: Repository, file: Files[string]): Promise<{ mode: Mode; oid: string }> {
  if (typeof file === 'string') return { mode: '100644', oid: await repository.writeBlob(file) }
  if ('link' in file) return { mode: '120000', oid: await repository.writeBlob(file.link) }
  if ('run' in file) return { mode: '100755', oid: await repository.writeBlob(file.run) }
  return { mode: '160000', oid: file.module }
}

/** What is really on disk. */
function onDisk(root: string, under = ''): Files {
  const found: Files = {}
  for (const name of readdirSync(join(root, under)).sort()) {
    const path = under === '' ? name : `${under}/${name}`
    const full = join(root, path)
    const stat = lstatSync(full)
    if (stat.isSymbolicLink()) found[path] = { link: readlinkSync(full) }
    else if (stat.isDirectory())
      Object.assign(found, readdirSync(full).length === 0 ? { [path]: { module: '' } } : onDisk(root, path))
    else
      found[path] =
        (stat.mode & 0o100) === 0 ? readFileSync(full, 'utf8') : { run: readFileSync(full, 'utf8') }
  }
  return found
}

async function fixture() {
  const repository = await open({ remote: bareRemote().dir })
  return { repository, out: join(scratch(), 'out') }
}

describe('a materialised tree', () => {
  it('is exactly its files, links, executables and empty submodules', async () => {
    const { repository, out } = await fixture()
    const files = {
      'a.txt': 'a\r\n',
      'dir/run.sh': { run: '#!/bin/sh\n' },
      'dir/deep/ünï code': '',
      link: { link: 'dir/run.sh' },
      broken: { link: '/nowhere' },
    }
    await repository.materialize(await treeOf(repository, { ...files, sub: { module: 'a'.repeat(40) } }), out)
    expect(onDisk(out)).toEqual({ ...files, sub: { module: '' } })
  })

  it('is not changed by the attributes inside it', async () => {
    const { repository, out } = await fixture()
    const files = { '.gitattributes': '* text eol=crlf ident\n', 'a.txt': 'a\n$Id$\n' }
    await repository.materialize(await treeOf(repository, files), out)
    expect(onDisk(out)).toEqual(files)
  })

  it('never overwrites what is there', async () => {
    const { repository, out } = await fixture()
    mkdirSync(out)
    writeFileSync(join(out, 'a'), 'mine')
    await expect(repository.materialize(await treeOf(repository, { a: 'x' }), out)).rejects.toThrow('EEXIST')
    expect(readFileSync(join(out, 'a'), 'utf8')).toBe('mine')
  })

  it.each(['.git/config', '.GIT/hooks/x', 'a/.git', 'git~1/x', '.git ./x'])(
    'with %s is refused before anything is written',
    async path => {
      const { repository, out } = await fixture()
      await expect(
        repository.materialize(await treeOf(repository, { b: 'x', [path]: 'x' }), out),
      ).rejects.toMatchObject({
        name: 'UserError',
        message: expect.stringContaining('cannot be written safely'),
      })
      expect(existsSync(out)).toBe(false)
    },
  )

  it('of three thousand files is complete', async () => {
    const { repository, out } = await fixture()
    const files: Files = {}
    for (let index = 0; index < 3000; index++) files[`d${index % 30}/f${index}`] = `${index}`
    await repository.materialize(await treeOf(repository, files), out)
    expect(onDisk(out)).toEqual(files)
  })
})

describe('moving a materialised tree to another', () => {
  it('gives the same directory as materialising that one, for any two trees', async () => {
    const { repository } = await fixture()
    const root = scratch()
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 })
      .map(parts => parts.join('/'))
    const text = fc.constantFrom('1', '2')
    const file = fc.oneof(
      text,
      text.map(run => ({ run })),
      text.map(link => ({ link })),
    )
    const tree = fc.dictionary(path, file, { maxKeys: 6 }).map(files => {
      const paths = Object.keys(files)
      return Object.fromEntries(
        Object.entries(files).filter(([one]) => !paths.some(other => other.startsWith(`${one}/`))),
      )
    })
    let run = 0
    await fc.assert(
      fc.asyncProperty(tree, tree, async (before, after) => {
        const dir = join(root, `${run++}`)
        const [from, to] = [await treeOf(repository, before), await treeOf(repository, after)]
        await repository.materialize(from, dir)
        await repository.updateMaterialized(from, to, dir)
        expect(onDisk(dir)).toEqual(after)
      }),
      { numRuns: 60 },
    )
  })

  it('writes only what differs, and leaves what is not of the trees', async () => {
    const { repository, out } = await fixture()
    const [from, to] = [
      await treeOf(repository, { same: 's', changed: '1' }),
      await treeOf(repository, { same: 's', changed: '2' }),
    ]
    await repository.materialize(from, out)
    utimesSync(join(out, 'same'), 1, 1)
    writeFileSync(join(out, 'cache'), 'kept')
    await repository.updateMaterialized(from, to, out)
    expect(statSync(join(out, 'same')).mtimeMs).toBe(1000)
    expect(onDisk(out)).toEqual({ same: 's', changed: '2', cache: 'kept' })
  })

  it('never writes or removes through a link that experiment code put in place of a directory', async () => {
    const { repository, out } = await fixture()
    const outside = scratch()
    writeFileSync(join(outside, 'old'), 'precious')
    const [from, to] = [
      await treeOf(repository, { 'dir/old': '1', 'dir/x': '1' }),
      await treeOf(repository, { 'dir/new': '2', 'dir/x': '1' }),
    ]
    await repository.materialize(from, out)
    rmSync(join(out, 'dir'), { recursive: true })
    symlinkSync(outside, join(out, 'dir'))
    await repository.updateMaterialized(from, to, out)
    expect(onDisk(outside)).toEqual({ old: 'precious' })
    expect(onDisk(out)).toEqual({ 'dir/new': '2' })
  })
})
