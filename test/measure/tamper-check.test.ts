import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { waitUntilPast } from '../../src/measure/guarded-run.ts'
import {
  computeContentId,
  findFirstDifference,
  findTamperedPath,
  snapshotEverything,
  snapshotFiles,
  type TrackedFile,
} from '../../src/measure/tamper-check.ts'
import { scratch } from './scratch.ts'

function laidOut(files: Record<string, string>): { dir: string; files: TrackedFile[] } {
  const dir = join(scratch(), 'side')
  mkdirSync(dir)
  const tracked = Object.entries(files).map(([path, content]) => {
    mkdirSync(join(dir, path, '..'), { recursive: true })
    writeFileSync(join(dir, path), content)
    return { path, mode: '100644', oid: computeContentId(join(dir, path), false, 'sha1') }
  })
  return { dir, files: tracked }
}

const TWO = { 'a.txt': 'one\n', 'sub/b.txt': 'two\n' }

describe('a snapshot of a side', () => {
  test("identifies content by git's blob id", () => {
    const { dir, files } = laidOut({ a: 'hello\n' })
    const git = execFileSync('git', ['hash-object', '--no-filters', join(dir, 'a')], {
      encoding: 'utf8',
    }).trim()
    expect(files[0]?.oid).toBe(git)
    expect(computeContentId(join(dir, 'a'), false, 'sha256')).toHaveLength(64)
  })

  test('matches an unchanged side, also after it was moved', () => {
    const { dir, files } = laidOut(TWO)
    const seal = snapshotEverything(dir, files, 'sha1')
    renameSync(dir, `${dir}-moved`)
    expect(findTamperedPath(seal, `${dir}-moved`, 'sha1')).toBeNull()
  })

  const changes: [string, (dir: string) => void, string][] = [
    ['other bytes of the same length', dir => writeFileSync(join(dir, 'a.txt'), 'ONE\n'), 'a.txt'],
    ['its removal', dir => rmSync(join(dir, 'sub/b.txt')), 'sub/b.txt'],
    [
      'its replacement by a link',
      dir => (rmSync(join(dir, 'a.txt')), symlinkSync('sub/b.txt', join(dir, 'a.txt'))),
      'a.txt',
    ],
    ['an executable bit', dir => chmodSync(join(dir, 'a.txt'), 0o755), 'a.txt'],
  ]
  test.each(changes)('%s breaks both kinds of snapshot', async (_, change, path) => {
    const { dir, files } = laidOut(TWO)
    const both = [
      snapshotFiles(snapshotEverything(dir, files, 'sha1'), files),
      snapshotEverything(dir, files, 'sha1'),
    ]
    await waitUntilPast(`${dir}-clock`, both[1]?.newest ?? 0n)
    change(dir)
    for (const seal of both) expect([path, 'sub', '.']).toContain(findTamperedPath(seal, dir, 'sha1'))
  })

  test('detects a write whose time was reset', async () => {
    const { dir, files } = laidOut(TWO)
    const seal = snapshotFiles(snapshotEverything(dir, files, 'sha1'), files)
    await waitUntilPast(`${dir}-clock`, seal.newest)
    const before = new Date(1_000_000)
    writeFileSync(join(dir, 'a.txt'), 'ONE\n')
    utimesSync(join(dir, 'a.txt'), before, before)
    expect(findTamperedPath(seal, dir, 'sha1')).toBe('a.txt')
  })

  test('accepts a file rewritten with the same bytes', async () => {
    const { dir, files } = laidOut(TWO)
    const seal = snapshotEverything(dir, files, 'sha1')
    await waitUntilPast(`${dir}-clock`, seal.newest)
    writeFileSync(join(dir, 'a.txt'), 'one\n')
    expect(findTamperedPath(seal, dir, 'sha1')).toBeNull()
  })

  test('does not wait for hours where the clock was set back', async () => {
    const later = BigInt(Date.now() + 3_600_000) * 1_000_000n
    await expect(waitUntilPast(join(scratch(), 'clock'), later)).rejects.toThrow('the clock was set back')
  })

  test('lets untracked files change in the running side only', async () => {
    const { dir, files } = laidOut(TWO)
    const [running, parked] = [
      snapshotFiles(snapshotEverything(dir, files, 'sha1'), files),
      snapshotEverything(dir, files, 'sha1'),
    ]
    await waitUntilPast(`${dir}-clock`, parked.newest)
    writeFileSync(join(dir, 'sub/cache'), 'x')
    expect(findTamperedPath(running, dir, 'sha1')).toBeNull()
    expect(findTamperedPath(parked, dir, 'sha1')).toBe('sub')
  })

  test('reuses the stamps of a snapshot that was just checked', async () => {
    const { dir, files } = laidOut(TWO)
    const tracked = snapshotFiles(snapshotEverything(dir, files, 'sha1'), files)
    await waitUntilPast(`${dir}-clock`, tracked.newest)
    writeFileSync(join(dir, 'sub/cache'), 'x')
    writeFileSync(join(dir, 'a.txt'), 'one\n')
    expect(findTamperedPath(tracked, dir, 'sha1')).toBeNull()
    const again = snapshotEverything(dir, files, 'sha1', tracked)
    const looked = ({ entries }: typeof again) =>
      entries.map(({ path, names, stamp }) => [path, names, stamp.ctimeNs, stamp.size, stamp.ino, stamp.mode])
    expect(looked(again)).toEqual(looked(snapshotEverything(dir, files, 'sha1')))
    await waitUntilPast(`${dir}-clock`, again.newest)
    writeFileSync(join(dir, 'a.txt'), 'ONE\n')
    expect(findTamperedPath(again, dir, 'sha1')).toBe('a.txt')
  })

  test('accepts a new hard link to a file of a shared store, and no write', async () => {
    const { dir, files } = laidOut(TWO)
    writeFileSync(`${dir}-store`, 'shared')
    linkSync(`${dir}-store`, join(dir, 'linked'))
    const seal = snapshotEverything(dir, files, 'sha1')
    await waitUntilPast(`${dir}-clock`, seal.newest)
    linkSync(`${dir}-store`, `${dir}-again`)
    expect(findTamperedPath(seal, dir, 'sha1')).toBeNull()
    writeFileSync(`${dir}-store`, 'SHARED')
    expect(findTamperedPath(seal, dir, 'sha1')).toBe('linked')
  })

  test('accepts names that are not ASCII', () => {
    const { dir, files } = laidOut({ 'é/ü.txt': '1', 'a b/-c': '2' })
    expect(findTamperedPath(snapshotEverything(dir, files, 'sha1'), dir, 'sha1')).toBeNull()
  })
})

describe('a reused side', () => {
  test('is read in full, and the first different file is named', () => {
    const { dir, files } = laidOut(TWO)
    expect(findFirstDifference(dir, files, 'sha1')).toBeNull()
    writeFileSync(join(dir, 'sub/b.txt'), 'TWO\n')
    expect(findFirstDifference(dir, files, 'sha1')).toBe('sub/b.txt')
  })
})
