import type { RepositoryContext } from '../engine/open.ts'
import { isAllowedRef } from '../git/allowed-ref.ts'
import { toShortRef } from '../model/refs.ts'
import { readCampaignStart } from './beginning.ts'

/** A campaign that left a ledger, running or put aside. */
export interface RecordedCampaign {
  prefix: string
  name: string
}

interface OwnBranches {
  /** Full names. */
  all: string[]
  recorded: RecordedCampaign[]
  /** By its short name: whether a ledger says that winnow made it. */
  isOurs: (branch: string) => boolean
}

const OWN_LEDGER = /^refs\/heads\/(.+)-(?:state\/([^/]+)|archive\/([^/]+)\/[^/]+\/state)$/

/** A name alone proves nothing: a branch is winnow's where a ledger of its campaign lies beside it. */
export async function listOwnBranches({ repository }: RepositoryContext): Promise<OwnBranches> {
  const { refs } = await repository.remoteRefs(['refs/heads/*'])
  const all = [...refs.keys()]
  const recorded = new Map<string, RecordedCampaign>()
  for (const ref of all) {
    const [, prefix, state, archived] = OWN_LEDGER.exec(ref) ?? []
    const name = state ?? archived
    if (prefix === undefined || name === undefined || !isAllowedRef(prefix, ref)) continue
    const beginning = await readCampaignStart(repository, ref)
    if (beginning?.spec === name) recorded.set(`${prefix} ${name}`, { prefix, name })
  }
  const campaigns = [...recorded.values()]
  const isOurs = (branch: string) => campaigns.some(campaign => isCampaignBranch(campaign, branch))
  return { all, recorded: campaigns, isOurs }
}

export function isCampaignBranch({ prefix, name }: RecordedCampaign, branch: string): boolean {
  const short = toShortRef(branch)
  if (!isAllowedRef(prefix, `refs/heads/${short}`)) return false
  return short.slice(prefix.length).split('/')[1] === name
}
