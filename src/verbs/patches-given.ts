import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { bring } from '../engine/ordered-trees.ts'
import { UserError } from '../errors.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Oid } from '../model/ids.ts'
import { changeOf, commitOn } from '../propose/patch.ts'
import { readPatchBytes } from '../propose/patch-file.ts'
import { PATCH_FILE, type PatchIdea } from '../propose/patch-text.ts'
import type { Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { defaultTip } from './default-branch.ts'
import type { ToldIdea } from './idea-block.ts'

/** A commit to be offered, and what is known of it. */
export interface OfferedIdea {
  commit: Oid
  /** The repository that has it; null where it is in winnow's own. */
  from: string | null
  idea: ToldIdea
}

interface Given {
  /** As the person typed it. */
  given: string
  campaign: Campaign
}

/** The ideas of a patch file, each as a commit on the incumbent; null where no patch file was named. */
export async function patchesGiven(
  call: Call,
  scene: Scene,
  { given, campaign }: Given,
): Promise<OfferedIdea[] | null> {
  if (!PATCH_FILE.test(given)) return null
  const path = resolve(call.around.directory, given)
  const info = await stat(path).catch(nullIfMissing)
  if (info === null || !info.isFile()) return null
  const ideas = readPatchBytes(await readFile(path), given)
  if (ideas.some(({ simplifies }) => simplifies))
    call.terminal.err(`note: kind: simplify of ${given} is not used: it counts only in the folder of propose`)
  const { repository } = scene.place
  const { incumbent } = campaign
  const fallbackBase = await defaultTip(scene.workshop, call.around)
  await bring(repository, incumbent.commit)
  const offered: OfferedIdea[] = []
  for (const patch of ideas) {
    const changed = await changeOf({ repo: repository, incumbent, fallbackBase }, { ...patch, path: given })
    if ('rejected' in changed) throw refused(changed.rejected, patch, ideas.length)
    const { hypothesis } = patch.idea
    const commit = await commitOn(repository, incumbent, changed.tree, hypothesis)
    offered.push({ commit, from: null, idea: { ...patch.idea, family: patch.idea.family ?? undefined } })
  }
  return offered
}

function refused(why: string, { idea }: PatchIdea, count: number): UserError {
  const which = count === 1 ? '' : ` ("${idea.hypothesis}", one of ${count} in it)`
  return new UserError(`${why}${which}`, {
    fix: 'make the patch on the default branch or on the optimize branch; nothing of the file was offered',
  })
}
