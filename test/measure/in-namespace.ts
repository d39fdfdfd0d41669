import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SideUsers } from '../../src/measure/users/side-users.ts'
import { scratch } from '../git/scratch.ts'

const SCRIPT = [
  'mount --bind "$1" /etc/passwd && mount -t tmpfs -o mode=755 tmpfs /var/lib || exit 99',
  'shift',
  'exec "$@"',
].join('\n')

/** A command that sees users of sides in /etc/passwd, and a /var/lib of its own: nothing of it stays on this machine. */
export function amongUsers(
  { owners }: Pick<SideUsers, 'owners'>,
  argv: readonly string[],
  people: readonly string[] = [],
) {
  const sides = owners.map(
    ({ uid, gid }, at) => `winnow-${at + 1}:x:${uid}:${gid}::/nonexistent:/usr/sbin/nologin`,
  )
  const passwd = join(scratch('winnow-passwd-'), 'passwd')
  writeFileSync(passwd, `${['root:x:0:0:root:/root:/bin/sh', ...people, ...sides].join('\n')}\n`)
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', SCRIPT, 'sh', passwd, ...argv]
}
