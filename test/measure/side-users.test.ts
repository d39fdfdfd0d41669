import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { chooseSlotRequest } from '../../src/engine/jobs/worker-slots.ts'
import {
  copyForUser,
  MAKE_USERS,
  parseOwners,
  requireRootOwned,
} from '../../src/measure/isolation/side-users.ts'
import { readCapped, readOutputTail } from '../../src/measure/output/capped-file.ts'
import { buildUserWorkspace, chooseWorkspace } from '../../src/measure/session.ts'
import { aSpec } from '../decide/a-spec.ts'
import { scratch } from './scratch.ts'
import { isRoot, throwAwayUsers } from './throw-away-users.ts'

const PEOPLE = ['root:x:0:0:root:/root:/bin/bash', 'ada:x:1000:1000::/home/ada:/bin/sh']
const SIDES = [1, 2, 3, 4, 5, 6].map(
  n => `winnow-${n}:x:${900 + n}:${800 + n}::/nonexistent:/usr/sbin/nologin`,
)
const passwd = (...lines: string[]) => `${lines.join('\n')}\n`

describe('users for sides', () => {
  test('are the users winnow-1 to winnow-6, with unique ids', () => {
    const owners = [1, 2, 3, 4, 5, 6].map(n => ({ uid: 900 + n, gid: 800 + n }))
    expect(parseOwners(passwd(...PEOPLE, ...SIDES))).toEqual(owners)
    expect(parseOwners(passwd(...SIDES.toReversed(), ...PEOPLE))).toEqual(owners)
  })

  test.each([
    ['none', PEOPLE, 'there is no user winnow-1', 'useradd --system'],
    ['too few', [...PEOPLE, ...SIDES.slice(0, 5)], 'there is no user winnow-6', 'winnow-$n; done'],
    [
      'root',
      [...SIDES.slice(0, 5), 'winnow-6:x:0:0::/:/bin/sh'],
      'winnow-6 has the number 0',
      'userdel winnow-6',
    ],
    [
      'a group of root',
      [...SIDES.slice(1), 'winnow-1:x:901:0::/:/bin/sh'],
      'not a plain user',
      'userdel winnow-1',
    ],
    [
      'somebody else',
      [...SIDES, 'ada:x:903:1::/home/ada:/bin/sh'],
      'winnow-3 has the number 903, which is also ada',
      'userdel',
    ],
    [
      'each other',
      [...SIDES.slice(1), 'winnow-1:x:902:9::/:/bin/sh'],
      'which is also winnow-2',
      'userdel winnow-1',
    ],
    [
      'not numbers',
      [...SIDES.slice(1), 'winnow-1:x:many:9::/:/bin/sh'],
      'not a plain user',
      'userdel winnow-1',
    ],
  ])('that are %s are refused with what to do', (_what, lines, what, fix) => {
    expect(parseOwners(passwd(...lines))).toEqual({
      what: expect.stringContaining(what),
      fix: expect.stringContaining(fix),
    })
  })

  test('are created by one line, without groups and login', () => {
    const text: string = MAKE_USERS
    expect(text).toContain('for n in 1 2 3 4 5 6;')
    for (const option of ['--user-group', '--no-create-home', 'nologin']) expect(text).toContain(option)
    expect(text).not.toMatch(/--groups|-G|sudo|docker/)
  })

  test('are used only if the spec asks for them', () => {
    const asking = aSpec({ measurement: { command: 'x', isolation: 'uid' } })
    expect(chooseWorkspace(aSpec({}), '/work')).toEqual({ workDir: '/work' })
    expect(() => chooseWorkspace(asking, '/work')).toThrow(
      /^measurement\.isolation uid: (?:there is no user|only root)/,
    )
  })

  test('get a separate work directory for each work directory', () => {
    const users = { dir: '/var/lib/winnow', owners: [] }
    const { workDir } = buildUserWorkspace(users, '/home/ada/.cache/winnow/a')
    expect(workDir).toMatch(/^\/var\/lib\/winnow\/work-[0-9a-f]{12}$/)
    expect(buildUserWorkspace(users, '/home/ada/.cache/winnow/b').workDir).not.toBe(workDir)
  })

  test('are used by one order at a time', () => {
    const order = { attempt: 1, stop: { rule: 'once', min_effect: 0, scale: 'linear' } } as const
    expect(chooseSlotRequest(order, aSpec({})).alone).toBe(false)
    expect(chooseSlotRequest(order, aSpec({ measurement: { command: 'x', isolation: 'uid' } }))).toEqual({
      limit: 1,
      alone: true,
    })
  })
})

describe.skipIf(!isRoot)('a folder where sides lie', () => {
  test('belongs to root, and no other user can write there', () => {
    const dir = scratch()
    expect(() => requireRootOwned(dir)).not.toThrow()
    const link = join(scratch(), 'link')
    symlinkSync(dir, link)
    expect(() => requireRootOwned(link)).toThrow('other users can write to')
    chmodSync(dir, 0o775)
    expect(() => requireRootOwned(dir)).toThrow('other users can write to')
  })
})

describe.skipIf(!isRoot)('root, among what a user left', () => {
  test('reads files of that user, and no hard link to a file of another', () => {
    const [mine = { uid: 1, gid: 1 }, other = { uid: 1, gid: 1 }] = throwAwayUsers().owners
    const dir = scratch()
    chownSync(dir, mine.uid, mine.gid)
    const secret = join(scratch(), 'secret')
    for (const [name, owner] of Object.entries({ mine: mine.uid, others: other.uid })) {
      writeFileSync(join(dir, name), 'text')
      chownSync(join(dir, name), owner, 0)
    }
    writeFileSync(secret, 'text')
    linkSync(secret, join(dir, 'linked'))
    expect(readCapped(join(dir, 'mine'))).toEqual({ kind: 'text', text: 'text' })
    for (const name of ['others', 'linked']) {
      expect(readCapped(join(dir, name))).toEqual({ kind: 'missing' })
      expect(readOutputTail(join(dir, name))).toBe('')
    }
  })

  test('copies links as links, without setuid and setgid bits', async () => {
    const [owner = { uid: 1, gid: 1 }] = throwAwayUsers().owners
    const room = scratch()
    const from = join(room, 'from')
    mkdirSync(join(from, 'closed'), { recursive: true })
    writeFileSync(join(from, 'closed', 'program'), 'x')
    chmodSync(join(from, 'closed', 'program'), 0o6711)
    chmodSync(join(from, 'closed'), 0)
    symlinkSync('/etc', join(from, 'link'))
    await copyForUser(owner, { from, room: join(room, 'closed'), to: join(room, 'to') })
    const program = lstatSync(join(room, 'to/closed/program'))
    expect([program.uid, program.mode & 0o7777]).toEqual([owner.uid, 0o700])
    expect([lstatSync(join(room, 'to/link')).uid, statSync('/etc').uid]).toEqual([owner.uid, 0])
    expect(lstatSync(join(from, 'closed')).mode & 0o777).toBe(0)
  })

  test.each([
    ['a link to a folder', (from: string, aim: string) => symlinkSync(aim, from)],
    ['a file', (from: string) => writeFileSync(from, 'x')],
    ['nothing', () => {}],
  ])('copies an empty folder where there is %s', async (_what, leave) => {
    const [owner = { uid: 1, gid: 1 }] = throwAwayUsers().owners
    const room = scratch()
    const aim = scratch()
    writeFileSync(join(aim, 'program'), 'x')
    chmodSync(join(aim, 'program'), 0o6755)
    chmodSync(aim, 0o755)
    leave(join(room, 'from'), aim)
    const to = join(room, 'to')
    await copyForUser(owner, { from: join(room, 'from'), room: join(room, 'closed'), to })
    const made = lstatSync(to)
    expect([made.isDirectory(), made.uid, made.mode & 0o7777, readdirSync(to)]).toEqual([
      true,
      owner.uid,
      0o700,
      [],
    ])
    expect([lstatSync(aim).mode & 0o7777, lstatSync(join(aim, 'program')).mode & 0o7777]).toEqual([
      0o755, 0o6755,
    ])
    expect(existsSync(join(room, 'closed'))).toBe(false)
  })

  test('copies a file with several hard links once', async () => {
    const [owner = { uid: 1, gid: 1 }] = throwAwayUsers().owners
    const room = scratch()
    mkdirSync(join(room, 'from'))
    writeFileSync(join(room, 'from/0'), 'x')
    for (const name of ['1', '2', '3']) linkSync(join(room, 'from/0'), join(room, 'from', name))
    await copyForUser(owner, { from: join(room, 'from'), room: join(room, 'closed'), to: join(room, 'to') })
    const copies = ['0', '1', '2', '3'].map(name => lstatSync(join(room, 'to', name)))
    expect([new Set(copies.map(({ ino }) => ino)).size, copies[0]?.nlink]).toEqual([1, 4])
    expect(copies[0]?.ino).not.toBe(lstatSync(join(room, 'from/0')).ino)
  })
})
