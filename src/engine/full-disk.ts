import { UserError } from '../errors.ts'
import type { Report } from '../model/report.ts'

const WORDS = /\bENOSPC\b|\bEDQUOT\b|No space left on device|Disk quota exceeded/

/**
 * Another machine may have room where one had none, so to `measure` a full disk is a failure of the runner like
 * any other. Here it is the same disk at the next attempt: ideas would be closed for it, one after the other.
 * Where code of the order has run it may be what filled the disk, and the report stands.
 */
export function refuseFullDisk(workDir: string, report: Report): Report {
  const { setups, gates, executions, runner_error: why } = report
  if (why === null || !WORDS.test(why) || setups.length + gates.length + executions.length > 0) return report
  throw new UserError(`no room is left to lay out what is measured in ${workDir}: the disk is full`, {
    place: { file: workDir },
    fix: 'free space, then run again; nothing was measured, and what was recorded stays valid',
    cause: why,
  })
}
