import type { Repository } from '../git/repository.ts'
import type { AskedIdea, Brought } from '../model/asked.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Proposal } from '../plan/world.ts'
import { commitOn } from './patch.ts'
import { readRejection } from './patch-rejection.ts'

type Head = Proposal['head']
type BroughtRepository = Pick<Repository, 'applyPatch' | 'commit' | 'writeCommit' | 'has'>

/** By the asking's key, held by the caller: a change is applied once. */
export type BroughtHeads = Map<string, Promise<Head>>

/** Ideas that the ledger holds and no experiment carries out yet, each as one commit on what its proposer was given. */
export async function broughtProposals(
  repo: BroughtRepository,
  { asked }: Pick<Campaign, 'asked'>,
  heads: BroughtHeads,
): Promise<Proposal[]> {
  const found = Object.values(asked).map(async (asking): Promise<Proposal[]> => {
    const { key, carries, brought } = asking
    if (brought === null) return []
    const { patch: _patch, ...told } = brought
    const head = await headOf(repo, { asking, brought }, heads)
    const source = { use: 'command', key }
    const { first_unseen } = asking
    const carried = carries === null ? {} : { carries }
    return [{ ...told, ...carried, first_unseen, source, head, branch: null, pull: null }]
  })
  return (await Promise.all(found)).flat()
}

export function headOf(
  repo: BroughtRepository,
  idea: { asking: AskedIdea; brought: Brought },
  heads: BroughtHeads,
): Promise<Head> {
  const { key } = idea.asking
  const head = heads.get(key) ?? commitOf(repo, idea)
  heads.set(key, head)
  return head
}

/** Dated like its base: whoever takes it in makes the same commit. */
async function commitOf(
  repo: BroughtRepository,
  { asking: { who, base }, brought }: { asking: AskedIdea; brought: Brought },
): Promise<Head> {
  if (!(await repo.has(base.commit)))
    return { rejected: `commit ${base.commit}, which ${who} was given, is gone` }
  const applied = await repo.applyPatch(base.tree, brought.patch)
  if ('rejected' in applied) {
    return {
      rejected: `what ${who} changed does not apply: ${readRejection(applied.rejected, brought.patch).why}`,
    }
  }
  const message = `${brought.hypothesis}\n\nWinnow-Source: ${who}`
  return { commit: await commitOn(repo, base, applied.tree, message), base, tree: applied.tree }
}
