import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import { findShortage, refuseFull } from '../../src/measure/machine.ts'

const ROOMY = { bsize: 4096, blocks: 1_000, bfree: 500, bavail: 400, files: 1_000, ffree: 500 }

describe('a disk', () => {
  test.each([
    ['with room', {}, null],
    ['of which the last pages are gone', { bfree: 3, bavail: 3 }, 'space'],
    ['with no name left for a file', { ffree: 0 }, 'inode'],
    ['that counts no files', { files: 0, ffree: 0 }, null],
    ['that counts nothing', { blocks: 0, bfree: 0, bavail: 0, files: 0, ffree: 0 }, null],
  ])('%s', (_, different, lacks) => {
    expect(findShortage({ ...ROOMY, ...different }, true)).toBe(lacks)
  })

  test('that keeps its last blocks for root is full for everybody else', () => {
    const kept = { ...ROOMY, bavail: 0 }
    expect([findShortage(kept, false), findShortage(kept, true)]).toEqual(['space', null])
  })

  test('is looked at as it is', async () => {
    await expect(refuseFull(tmpdir())).resolves.toBeUndefined()
    await expect(refuseFull('/nowhere')).rejects.toThrow('ENOENT')
  })
})
