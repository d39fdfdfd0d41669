import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { holdoutRoom } from '../measure/holdout-data.ts'
import { isMissing } from '../measure/missing.ts'
import { reapLeftovers } from '../measure/process/leftovers.ts'
import { removeAll } from '../measure/remove.ts'

const MOST_PROCESSES = 64

/** A directory that another living winnow on this cache works in is passed over. */
export async function freeWorkDir(under: string, lane: number): Promise<string> {
  for (let process = 0; ; process++) {
    const workDir = join(under, process === 0 ? String(lane) : `${lane}-${process}`)
    if ((await reaped(workDir)) || process === MOST_PROCESSES) return workDir
  }
}

/** Ends what a killed process left running in any of these directories, not only in the one used next. */
export async function reapAll(under: string): Promise<void> {
  for (const name of await namesIn(under)) await reaped(join(under, name))
}

/** What a killed process left of a holdout, in whatever lane, is gone before this one measures anything. */
export async function sweepHoldouts(under: string): Promise<void> {
  for (const name of await namesIn(under)) {
    const workDir = join(under, name)
    if (await reaped(workDir)) await removeAll(holdoutRoom(workDir))
  }
}

/** False: a living process is at work there. */
async function reaped(workDir: string): Promise<boolean> {
  try {
    await reapLeftovers(workDir)
    return true
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}

async function namesIn(under: string): Promise<string[]> {
  try {
    return await readdir(under)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
