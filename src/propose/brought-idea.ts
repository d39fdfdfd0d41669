import type { Repository } from '../git/repository.ts'
import type { PendingProposal, ProposalResult } from '../model/asked.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Proposal } from '../plan/world.ts'
import { commitPatchedTree } from './patch.ts'
import { readRejection } from './patch-rejection.ts'

type ProposalHead = Proposal['head']
type AnswerRepository = Pick<Repository, 'applyPatch' | 'commit' | 'writeCommit' | 'has'>

/** By the asking's key, held by the caller: a change is applied once. */
export type AnswerHeads = Map<string, Promise<ProposalHead>>

/** Ideas that the ledger holds and no experiment carries out yet, each as one commit on what its proposer was given. */
export async function buildAnsweredProposals(
  repo: AnswerRepository,
  { asked }: Pick<Campaign, 'asked'>,
  heads: AnswerHeads,
): Promise<Proposal[]> {
  const found = Object.values(asked).map(async (asking): Promise<Proposal[]> => {
    const { key, carries, brought } = asking
    if (brought === null) return []
    const { patch: _patch, ...told } = brought
    const head = await getAnsweredHead(repo, { asking, brought }, heads)
    const source = { use: 'command', key }
    const { first_unseen } = asking
    const carried = carries === null ? {} : { carries }
    return [{ ...told, ...carried, first_unseen, source, head, branch: null, pull: null }]
  })
  return (await Promise.all(found)).flat()
}

export function getAnsweredHead(
  repo: AnswerRepository,
  idea: { asking: PendingProposal; brought: ProposalResult },
  heads: AnswerHeads,
): Promise<ProposalHead> {
  const { key } = idea.asking
  const head = heads.get(key) ?? commitAnsweredIdea(repo, idea)
  heads.set(key, head)
  return head
}

/** Dated like its base: whoever takes it in makes the same commit. */
async function commitAnsweredIdea(
  repo: AnswerRepository,
  { asking: { who, base }, brought }: { asking: PendingProposal; brought: ProposalResult },
): Promise<ProposalHead> {
  if (!(await repo.has(base.commit)))
    return { rejected: `commit ${base.commit}, which ${who} was given, is gone` }
  const applied = await repo.applyPatch(base.tree, brought.patch)
  if ('rejected' in applied) {
    return {
      rejected: `what ${who} changed does not apply: ${readRejection(applied.rejected, brought.patch).why}`,
    }
  }
  const message = `${brought.hypothesis}\n\nWinnow-Source: ${who}`
  return { commit: await commitPatchedTree(repo, base, applied.tree, message), base, tree: applied.tree }
}
