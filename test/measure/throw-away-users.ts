import { chmodSync } from 'node:fs'
import type { SideUsers } from '../../src/measure/isolation/side-users.ts'
import { scratch } from './scratch.ts'

export const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

/** Everything under such a number is killed: each process of the tests has numbers of its own. */
const FIRST = 100_000 + 10 * (process.pid % 100_000)

/** Numbers that no user here has, and a folder that they may enter. */
export function throwAwayUsers(): SideUsers {
  const dir = scratch()
  chmodSync(dir, 0o711)
  const owners = Array.from({ length: 6 }, (_, at) => ({ uid: FIRST + at, gid: FIRST + at }))
  return { dir, owners }
}
