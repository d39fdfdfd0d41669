import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import { detectProject } from '../setup/detect.ts'
import { readCommittedProject } from './committed-project.ts'

/** What `init` would write as the set-up here; null where nothing is to be installed, or nothing is known. */
export async function findUsualSetup(workshop: RepositoryContext, base: Point): Promise<string | null> {
  const files = await readCommittedProject(workshop, base)
  try {
    return (
      detectProject({ files, repository: files, directory: '' }, undefined).findings.setup?.command ?? null
    )
  } catch (error) {
    if (error instanceof UserError) return null
    throw error
  }
}
