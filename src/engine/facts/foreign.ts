import type { Repository } from '../../git/repository.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Point } from '../../model/ids.ts'
import { parseTrailers } from '../../model/landing.ts'
import type { World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { findForeignRefusal } from './candidate.ts'

/** A tip of the optimize branch that is not the incumbent, and what keeps it from being measured. */
export async function readForeignFacts(
  repository: Repository,
  { incumbent }: Campaign,
  spec: Spec,
  tip: Point | null,
): Promise<World['foreign']> {
  if (tip === null || tip.commit === incumbent.commit) return null
  const change = { from: incumbent.tree, to: tip.tree }
  return { tip, refusal: await findForeignRefusal(repository, spec, change) }
}

/** Returns where the optimize branch is instead of where the ledger says; null where they agree or it is not needed any more. */
export async function readAstrayFacts(
  repository: Repository,
  { incumbent, stop_code }: Campaign,
  { optimizeTip, defaultTip }: { optimizeTip: Point | null; defaultTip: Point },
): Promise<World['branchMismatch']> {
  if (optimizeTip?.commit === incumbent.commit) return null
  const isBehind = optimizeTip === null || (await repository.isAncestor(optimizeTip.commit, incumbent.commit))
  if (!isBehind) return { is: 'foreign', tip: optimizeTip }
  const isMerged =
    stop_code === 'merged' ||
    defaultTip.tree === incumbent.tree ||
    (await repository.isAncestor(incumbent.commit, defaultTip.commit))
  if (isMerged) return null
  return optimizeTip === null ? { is: 'gone' } : { is: 'rewound', tip: optimizeTip }
}

/** What somebody else may have made of a verdict that waits for its merge. */
export async function readForeignLanding(
  repository: Repository,
  { landing, incumbent }: Campaign,
  tip: Point | null,
): Promise<Pick<World, 'mergeCommit'>> {
  if (landing === null || tip === null || tip.commit === incumbent.commit) return {}
  const { parents, message } = await repository.commit(tip.commit)
  return { mergeCommit: { ...tip, parents, names: parseTrailers(message).get('Winnow-Ledger') ?? null } }
}
