import type { Oid } from '../model/ids.ts'
import type { Ancestry } from './ancestry.ts'
import type { Pull } from './pull.ts'

export interface BranchTips {
  /** Tips by short name, as the remote has them now. */
  tips: ReadonlyMap<string, Oid>
  at: string
}

/** What its branches have made of an open pull request: merged, closed for good, moved on, or nothing. */
export async function settlePull(ancestry: Ancestry, pull: Pull, { tips, at }: BranchTips): Promise<Pull> {
  if (pull.state !== 'open') return pull
  const tip = tips.get(pull.branch)
  const head = tip ?? pull.head
  const base = tips.get(pull.base)
  if (base !== undefined && (await ancestry.contains(base, head))) {
    const merged_commit = await ancestry.findMergeCommit(base, head)
    return { ...pull, head, state: 'merged', merged_commit, closed_at: at }
  }
  if (tip === undefined) return { ...pull, state: 'closed', closed_at: at }
  return head === pull.head ? pull : { ...pull, head }
}
