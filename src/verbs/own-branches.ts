import type { Workshop } from '../engine/open.ts'
import { allowedRef } from '../git/allowed-ref.ts'
import { shortRef } from '../model/refs.ts'
import { recordedBeginning } from './beginning.ts'

/** A campaign that left a ledger, running or put aside. */
export interface Recorded {
  prefix: string
  name: string
}

interface Branches {
  /** Full names. */
  all: string[]
  recorded: Recorded[]
  /** By its short name: whether a ledger says that winnow made it. */
  isOurs: (branch: string) => boolean
}

const LEDGER = /^refs\/heads\/(.+)-(?:state\/([^/]+)|archive\/([^/]+)\/[^/]+\/state)$/

/** A name alone proves nothing: a branch is winnow's where a ledger of its campaign lies beside it. */
export async function ownBranches({ repository }: Workshop): Promise<Branches> {
  const { refs } = await repository.remoteRefs(['refs/heads/*'])
  const all = [...refs.keys()]
  const recorded = new Map<string, Recorded>()
  for (const ref of all) {
    const [, prefix, state, archived] = LEDGER.exec(ref) ?? []
    const name = state ?? archived
    if (prefix === undefined || name === undefined || !allowedRef(prefix, ref)) continue
    const beginning = await recordedBeginning(repository, ref)
    if (beginning?.spec === name) recorded.set(`${prefix} ${name}`, { prefix, name })
  }
  const campaigns = [...recorded.values()]
  const isOurs = (branch: string) => campaigns.some(campaign => belongsTo(campaign, branch))
  return { all, recorded: campaigns, isOurs }
}

export function belongsTo({ prefix, name }: Recorded, branch: string): boolean {
  const short = shortRef(branch)
  if (!allowedRef(prefix, `refs/heads/${short}`)) return false
  return short.slice(prefix.length).split('/')[1] === name
}
