import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SideUsers } from '../../src/measure/isolation/side-users.ts'
import { scratch } from '../git/scratch.ts'

type Users = Pick<SideUsers, 'owners'>

const ROOT = 'root:x:0:0:root:/root:/bin/sh'

/** A command that sees users of sides in /etc/passwd, and a /var/lib of its own: nothing of it stays on this machine. */
export function amongUsers(users: Users, argv: readonly string[]): string[] {
  const passwd = join(scratch('winnow-passwd-'), 'passwd')
  writeFileSync(passwd, passwdOf(users))
  const lines = ['mount --bind "$1" /etc/passwd', 'mount -t tmpfs -o mode=755 tmpfs /var/lib']
  return inNamespace(lines, [passwd], argv)
}

/** Where Debian's package of sudo was unpacked, for machines that have none: `.ci/run` does that. */
export const SUDO_ROOT = process.env['SUDO_ROOT'] ?? ''

/**
 * The same as the user of a hosted runner: one that may become root by sudo, and has not yet. All of /etc is a copy, which
 * whoever becomes root may change; `after` is run by root in that place, once it is over.
 */
export function asRunner(users: Users, runner: number, argv: readonly string[], after?: string): string[] {
  const room = scratch('winnow-runner-')
  mkdirSync(join(room, 'parts'))
  chmodSync(room, 0o755)
  writeFileSync(join(room, 'passwd'), passwdOf(users, `runner:x:${runner}:${runner}::/nonexistent:/bin/sh`))
  writeFileSync(join(room, 'shadow'), 'root:*:1::::::\nrunner:*:1::::::\n')
  const lines = [
    'p="$1/parts" && mount -t tmpfs -o mode=755 tmpfs "$p" && mkdir "$p/bin" "$p/libexec"',
    'cp -a /etc "$p/etc" && cp -a "$2/etc/." "$p/etc/" && cp "$1/passwd" "$1/shadow" "$p/etc/"',
    'echo "runner ALL=(ALL) NOPASSWD:ALL" > "$p/etc/sudoers.d/runner"',
    'cp -a /usr/libexec/. "$2/usr/libexec/." "$p/libexec/" && cp -a "$2/usr/bin/sudo" "$p/bin/"',
    'mount --bind "$p/etc" /etc && mount --bind "$p/libexec" /usr/libexec',
    'mount -t tmpfs -o mode=755 tmpfs /var/lib && export PATH="$p/bin:$PATH"',
  ]
  const become = ['setpriv', '--reuid', `${runner}`, '--regid', `${runner}`, '--clear-groups', '--']
  const watched = after === undefined ? [] : ['sh', '-c', `"$@"; code=$?; ${after}; exit $code`, 'sh']
  return inNamespace(lines, [room, SUDO_ROOT], [...watched, ...become, ...argv])
}

function passwdOf({ owners }: Users, ...people: string[]): string {
  const sides = owners.map(
    ({ uid, gid }, at) => `winnow-${at + 1}:x:${uid}:${gid}::/nonexistent:/usr/sbin/nologin`,
  )
  return `${[ROOT, ...people, ...sides].join('\n')}\n`
}

function inNamespace(lines: readonly string[], given: readonly string[], argv: readonly string[]): string[] {
  const script = [...lines.map(line => `${line} || exit 99`), `shift ${given.length}`, 'exec "$@"'].join('\n')
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...given, ...argv]
}
