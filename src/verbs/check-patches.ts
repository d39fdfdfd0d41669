import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { Point } from '../model/ids.ts'
import { applyPatchFile } from '../propose/patch.ts'
import { type PatchFile, readPatches } from '../propose/patch-file.ts'
import type { Spec } from '../spec/schema.ts'

export interface CheckedPatches {
  /** What the usable patches of each folder say they do. */
  hypotheses: Map<string, string[]>
  /** One sentence for each patch that cannot be used, with its file and line. */
  problems: string[]
}

interface PatchCheckTarget {
  base: Point
  /** The spec's file. */
  path: string
}

/** Reads and applies every patch of the spec's folders to the default branch, before anything is measured. */
export async function checkPatches(
  { repository }: RepositoryContext,
  spec: Spec,
  { base, path }: PatchCheckTarget,
): Promise<CheckedPatches> {
  const hypotheses = new Map<string, string[]>()
  const problems: string[] = []
  for (const proposer of spec.propose) {
    if (proposer.use !== 'patch') continue
    const usable: string[] = []
    for (const patch of await readCheckedPatches(repository, base, { dir: proposer.dir, path })) {
      const changed = await applyPatchFile(
        { repo: repository, incumbent: base, named: 'the default branch' },
        patch,
      )
      if ('tree' in changed) usable.push(patch.idea.hypothesis)
      else problems.push(`this patch cannot be used: ${changed.rejected}`)
    }
    hypotheses.set(proposer.dir, usable)
  }
  return { hypotheses, problems }
}

async function readCheckedPatches(
  repository: RepositoryContext['repository'],
  base: Point,
  { dir, path }: { dir: string; path: string },
): Promise<PatchFile[]> {
  try {
    return await readPatches(repository, base.tree, dir)
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    throw new UserError(error.message, {
      place: { ...error.place, file: path },
      ...(error.fix === undefined ? {} : { fix: error.fix }),
      cause: error,
    })
  }
}
