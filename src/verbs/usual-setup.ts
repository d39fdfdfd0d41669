import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import { detect } from '../setup/detect.ts'
import { committedProject } from './committed-project.ts'

/** What `init` would write as the set-up here; null where nothing is to be installed, or nothing is known. */
export async function usualSetup(workshop: Workshop, base: Point): Promise<string | null> {
  const files = await committedProject(workshop, base)
  try {
    return detect({ files, repository: files, directory: '' }, undefined).findings.setup?.command ?? null
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}
