import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** GitHub's runner starts one for each job, and every step descends from it. */
const WORKER = 'Runner.Worker'
/** Linux gives start times to programs in hundredths of a second, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100
const STAT = /^\d+ \((.*)\) \S (.*)$/s

/**
 * Seconds since the runner started this job of GitHub Actions. null where that cannot be seen: outside a job, in a
 * container, or where there is no /proc.
 */
export function readJobAge(pid: number = process.pid, proc = '/proc'): number | null {
  try {
    for (let at = pid; at > 1; ) {
      const [, name, rest = ''] = STAT.exec(readFileSync(join(proc, String(at), 'stat'), 'latin1')) ?? []
      const fields = rest.trim().split(' ')
      if (name === WORKER) return computeAge(Number(fields[18]), proc)
      at = Number(fields[0])
    }
  } catch {
    // No /proc, or a process that ended meanwhile.
  }
  return null
}

function computeAge(started: number, proc: string): number | null {
  const uptime = Number(readFileSync(join(proc, 'uptime'), 'latin1').split(' ')[0])
  const seconds = uptime - started / TICKS_PER_SECOND
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}
