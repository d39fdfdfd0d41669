import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { hashSha256 } from '../model/canonical.ts'

let known: string | null = null

/** Changes with every start of the machine: two jobs with different ones ran on fresh machines. */
export function getBootId(): string {
  known ??= process.platform === 'linux' ? readKernelBootId() : computeBootId()
  return known
}

function readKernelBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** No kernel id to read: the minute in which this host was started, which does not move with the clock's drift. */
function computeBootId(): string {
  return hashSha256(`${hostname()} ${Math.round((Date.now() / 1000 - uptime()) / 60)}`)
}
