import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UserError } from '../errors.ts'
import { getHoldoutDir } from '../measure/holdout-data.ts'
import { listNames } from '../measure/names-in.ts'
import { claimWorkDir, endLeftovers, releaseWorkDir } from '../measure/process/leftovers.ts'
import { removeAll } from '../measure/remove.ts'

const MOST_PROCESSES = 64

/** Takes a directory for this process; one that another living winnow on this cache works in is passed over. */
export async function claimFreeWorkDir(under: string, lane: number): Promise<string> {
  for (let process = 0; ; process++) {
    const workDir = join(under, process === 0 ? String(lane) : `${lane}-${process}`)
    await mkdir(workDir, { recursive: true })
    if ((await tryUnlessInUse(() => claimWorkDir(workDir))) || process === MOST_PROCESSES) return workDir
  }
}

/** Ends what a killed process left running in any of these directories, not only in the one used next. */
export async function endAllLeftovers(under: string): Promise<void> {
  for (const name of listNames(under)) await tryUnlessInUse(() => endLeftovers(join(under, name)))
}

/** What a killed process left of a holdout, in whatever lane, is gone before this one measures anything. */
export async function removeHoldouts(under: string): Promise<void> {
  for (const name of listNames(under)) {
    const workDir = join(under, name)
    await tryUnlessInUse(async () => {
      await claimWorkDir(workDir)
      await removeAll(getHoldoutDir(workDir))
      await releaseWorkDir(workDir)
    })
  }
}

/** False: a living process is at work there. */
async function tryUnlessInUse(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act()
    return true
  } catch (error) {
    if (error instanceof UserError) return false
    throw error
  }
}
