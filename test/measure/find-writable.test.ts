import { chmodSync, chownSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findWritable } from '../../src/measure/isolation/access-check.ts'
import { isRoot } from './throw-away-users.ts'
import { scratch } from './scratch.ts'

const SIDE = { uid: 123_456, gid: 123_457 }

function aFolder(): string {
  const dir = realpathSync(scratch())
  chmodSync(dir, 0o755)
  mkdirSync(join(dir, 'owner/action'), { recursive: true })
  writeFileSync(join(dir, 'owner/action/index.js'), '')
  return dir
}

test('nothing is found where others may only read', () => {
  expect(findWritable([aFolder()], SIDE)).toBeNull()
})

test.each([
  ['owner/action/index.js', 0o646],
  ['owner/action', 0o757],
  ['owner', 0o1777],
  ['.', 0o777],
])('%s that others may write to is found', (path, mode) => {
  const dir = aFolder()
  chmodSync(join(dir, path), mode)
  expect(findWritable([dir], SIDE)).toBe(join(dir, path))
})

test('a folder that others may enter and not list is looked into, one that they cannot enter is not', () => {
  const dir = aFolder()
  chmodSync(join(dir, 'owner/action/index.js'), 0o666)
  chmodSync(join(dir, 'owner'), 0o711)
  expect(findWritable([dir], SIDE)).toBe(join(dir, 'owner/action/index.js'))
  chmodSync(join(dir, 'owner'), 0o700)
  expect(findWritable([dir], SIDE)).toBeNull()
  expect(findWritable([join(dir, 'owner/action')], SIDE)).toBeNull()
})

test('links in it say nothing, and one that leads to it is followed', () => {
  const dir = aFolder()
  symlinkSync('/dev/null', join(dir, 'owner/link'))
  expect(findWritable([dir], SIDE)).toBeNull()
  const link = join(scratch(), 'link')
  symlinkSync(dir, link)
  chmodSync(join(dir, 'owner/action/index.js'), 0o602)
  expect(findWritable([link], SIDE)).toBe(join(dir, 'owner/action/index.js'))
})

test.skipIf(!isRoot)('its own files are found whatever their mode, and those of its group', () => {
  const own = aFolder()
  chownSync(join(own, 'owner/action/index.js'), SIDE.uid, SIDE.gid)
  chmodSync(join(own, 'owner/action/index.js'), 0o400)
  expect(findWritable([own], SIDE)).toBe(join(own, 'owner/action/index.js'))
  const shared = aFolder()
  chownSync(join(shared, 'owner/action/index.js'), 0, SIDE.gid)
  chmodSync(join(shared, 'owner/action/index.js'), 0o660)
  expect(findWritable([shared], SIDE)).toBe(join(shared, 'owner/action/index.js'))
})
