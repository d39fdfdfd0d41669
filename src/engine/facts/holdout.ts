import type { Repository } from '../../git/repository.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { HoldoutFacts } from '../../plan/world.ts'
import { parseHoldoutSource } from '../../spec/holdout-source.ts'
import type { Spec } from '../../spec/schema.ts'

interface HoldoutLookup {
  repository: Repository
}

/** Looked up only while something that was measured may be about to land: it is of no use to others. */
export async function readHoldoutFacts(
  { repository }: HoldoutLookup,
  memory: { holdout: HoldoutFacts | null },
  campaign: Campaign,
  spec: Spec,
): Promise<HoldoutFacts | null> {
  const { holdout } = spec.measurement
  if (holdout === null || !canLandNow(campaign)) return null
  memory.holdout ??= await resolveHoldoutSource(repository, holdout.source)
  return memory.holdout
}

function canLandNow({ round, experiments }: Campaign): boolean {
  return round?.open === true && round.members.some(id => experiments[id]?.status === 'measured')
}

async function resolveHoldoutSource(repository: Repository, source: string | null): Promise<HoldoutFacts> {
  const named = source === null ? null : parseHoldoutSource(source)
  if (named === null) return { source: null }
  if ('environment' in named) return { source: named }
  const { ref } = named
  const commit = (await repository.remoteRefs([ref])).refs.get(ref)
  if (commit === undefined) return { missing: `there is no ${ref}` }
  await repository.fetch([{ ref, oid: commit }])
  if (!(await repository.isCommit(commit))) return { missing: `${ref} is no commit` }
  return { source: { ref, commit, tree: (await repository.commit(commit)).tree } }
}
