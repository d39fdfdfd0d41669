import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { namesIn } from '../names-in.ts'
import type { Owner } from '../process/reaper.ts'

/** Where everybody may put something that others find. */
const OPEN_TO_ALL = ['/tmp', '/var/tmp', '/dev/shm']

/**
 * What one execution put where all may write is not there for the next, of whichever side. Nothing of that user runs
 * meanwhile, and nobody else may move it: these folders are sticky.
 */
export function sweepShared({ uid }: Owner): void {
  for (const dir of OPEN_TO_ALL)
    for (const name of namesIn(dir)) {
      const path = join(dir, name)
      if (lstatSync(path, { throwIfNoEntry: false })?.uid === uid)
        rmSync(path, { recursive: true, force: true })
    }
}
