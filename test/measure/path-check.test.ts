import { chmodSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listPathRisks } from '../../src/measure/isolation/access-check.ts'
import { scratch } from './scratch.ts'

/** Which folders a user is asked about, and in which of them it may not even add a name. */
function asked(searched: string) {
  const reaches = listPathRisks(searched)
  const named = (question: RegExp) =>
    reaches.filter(({ asks }) => question.test(asks)).map(({ folder }) => folder)
  return { owned: named(/^test -O/), writable: named(/^test -w/), programs: named(/^\(for f/) }
}

describe('the folders of a PATH lookup', () => {
  test('are all folders from the root to each entry, with the programs in the last', () => {
    const room = realpathSync(scratch())
    mkdirSync(join(room, 'a/bin'), { recursive: true })
    const { owned, writable, programs } = asked(join(room, 'a/bin'))
    for (const folder of ['/', room, join(room, 'a'), join(room, 'a/bin')]) expect(owned).toContain(folder)
    for (const folder of [room, join(room, 'a'), join(room, 'a/bin')]) expect(writable).toContain(folder)
    expect(programs).toEqual([join(room, 'a/bin')])
  })

  test('follow links, also relative ones and those in the middle', () => {
    const room = realpathSync(scratch())
    for (const name of ['a', 'b/c/bin', 'd']) mkdirSync(join(room, name), { recursive: true })
    symlinkSync('../b/c', join(room, 'a/link'))
    symlinkSync(join(room, 'b/c/bin'), join(room, 'd/bin'))
    for (const path of ['a/link/bin', 'd/bin']) {
      const { owned, programs } = asked(join(room, path))
      for (const name of [path.slice(0, 1), 'b', 'b/c', 'b/c/bin']) expect(owned).toContain(join(room, name))
      expect(programs).toEqual([join(room, 'b/c/bin')])
    }
  })

  test('end at a missing folder or a loop of links', () => {
    const room = realpathSync(scratch())
    symlinkSync('round', join(room, 'round'))
    for (const path of ['none/bin', 'round/bin']) {
      const { writable, programs } = asked(join(room, path))
      expect([writable.includes(room), programs]).toEqual([true, []])
    }
  })

  test('may include a sticky folder, but not as the last', () => {
    const room = realpathSync(scratch())
    mkdirSync(join(room, 'bin'))
    chmodSync(room, 0o1777)
    expect(asked(join(room, 'bin')).writable).not.toContain(room)
    expect(asked(join(room, 'none')).writable).toContain(room)
    expect(asked(room).writable).toContain(room)
  })

  test("exclude relative entries, which lie in the side's own tree", () => {
    expect(listPathRisks('node_modules/.bin::.')).toEqual([])
  })
})
