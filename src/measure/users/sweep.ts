import { lstatSync, readdirSync } from 'node:fs'
import { isMissing } from '../missing.ts'
import type { Owner } from '../process/reaper.ts'
import { removeAll } from '../remove.ts'

/** Where everybody may put something that others find. */
const OPEN_TO_ALL = ['/tmp', '/var/tmp', '/dev/shm']

/**
 * What one execution put where all may write is not there for the next, of whichever side. Nothing of that user runs
 * meanwhile, and nobody else may move it: these folders are sticky.
 */
export async function clearSharedFolders({ uid }: Owner): Promise<void> {
  for (const dir of OPEN_TO_ALL)
    for (const name of listRawNames(dir)) {
      const path = Buffer.concat([Buffer.from(`${dir}/`), name])
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === uid) await removeNamed(path, uid)
    }
}

/** A name that is no text is a name all the same. */
function listRawNames(dir: string): Buffer[] {
  try {
    return readdirSync(dir, { encoding: 'buffer' })
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

async function removeNamed(path: Buffer, uid: number): Promise<void> {
  try {
    await removeAll(path)
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error)
    throw new Error(`what user ${uid} of a side left cannot be removed: ${path.toString()}: ${said}`)
  }
}
