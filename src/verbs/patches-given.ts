import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fetchCommit } from '../engine/ordered-trees.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid } from '../model/ids.ts'
import { applyPatchFile, commitPatchedTree } from '../propose/patch.ts'
import { readPatchBytes } from '../propose/patch-file.ts'
import { PATCH_FILE, type PatchIdea } from '../propose/patch-text.ts'
import type { CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { readDefaultTip } from './default-branch.ts'
import type { IdeaDetails } from './idea-block.ts'

/** A commit to be offered, and what is known of it. */
export interface OfferedIdea {
  commit: Oid
  /** The repository that has it; null where it is in winnow's own. */
  from: string | null
  idea: IdeaDetails
}

interface GivenPatch {
  /** As the person typed it. */
  given: string
  campaign: Campaign
}

/** The ideas of a patch file, each as a commit on the incumbent; null where no patch file was named. */
export async function readGivenPatches(
  call: Call,
  scene: CommandContext,
  { given, campaign }: GivenPatch,
): Promise<OfferedIdea[] | null> {
  if (!PATCH_FILE.test(given)) return null
  const path = resolve(call.around.directory, given)
  const info = await stat(path).catch(toNullIfMissing)
  if (info === null || !info.isFile()) return null
  const ideas = readPatchBytes(await readFile(path), given)
  if (ideas.some(({ simplifies }) => simplifies))
    call.terminal.err(`note: kind: simplify of ${given} is not used: it counts only in the folder of propose`)
  const { repository } = scene.place
  const { incumbent } = campaign
  const fallbackBase = await readDefaultTip(scene.workshop, call.around)
  await fetchCommit(repository, incumbent.commit)
  const offered: OfferedIdea[] = []
  for (const patch of ideas) {
    const changed = await applyPatchFile(
      { repo: repository, incumbent, fallbackBase },
      { ...patch, path: given },
    )
    if ('rejected' in changed) throw createPatchRefusal(changed.rejected, patch, ideas.length)
    const { hypothesis } = patch.idea
    const commit = await commitPatchedTree(repository, incumbent, changed.tree, hypothesis)
    offered.push({ commit, from: null, idea: { ...patch.idea, family: patch.idea.family ?? undefined } })
  }
  return offered
}

function createPatchRefusal(why: string, { idea }: PatchIdea, count: number): UserError {
  const which = count === 1 ? '' : ` ("${idea.hypothesis}", one of ${count} in it)`
  return new UserError(`${why}${which}`, {
    fix: 'make the patch on the default branch or on the optimize branch; nothing of the file was offered',
  })
}
