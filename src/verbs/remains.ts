import { existsSync } from 'node:fs'
import { dataDirFor } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { allowedRef } from '../git/allowed-ref.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { localIsolation } from '../git/isolation.ts'
import type { RemoteTip } from '../git/fetch.ts'
import type { ObjectFormat } from '../git/object-format.ts'
import { gitRunner } from '../git/runner.ts'
import { listWorktrees } from '../git/worktrees.ts'
import { shortRef } from '../model/refs.ts'
import { atRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { DEFAULT_PREFIX, knownCampaigns } from './known-campaigns.ts'
import { belongsTo, ownBranches, type Recorded } from './own-branches.ts'

/** One repository that winnow wrote branches into, and what it keeps of it on this machine. */
export interface Remains {
  /** How the command line names it: null is the remote that is used without --remote. */
  remote: string | null
  local: boolean
  /** winnow's own directory for it, which looking has made where it was not there. */
  dataDir: string
  hadDataDir: boolean
  repositoryDir: string
  format: ObjectFormat
  /** By the prefix under which each is written. */
  branches: { prefix: string; tip: RemoteTip }[]
  /** Branches that look like winnow's and that no ledger claims. */
  left: string[]
}

interface Claimed extends Recorded {
  /** Without a ledger only what was offered is winnow's; the name of the optimize branch proves nothing. */
  started: boolean
}

/** Fetches nothing but ledgers: what there is, and nothing changed. */
export async function remainsOf(call: Call, remote: string | null): Promise<Remains> {
  const around = { ...call.around, remote }
  const checkout = await inspectCheckout(around.directory, around.env)
  const dataDir = dataDirFor(checkout, around)
  const hadDataDir = existsSync(dataDir)
  return atRepository({ ...call, around }, DEFAULT_PREFIX, async workshop => {
    const { repository, local } = workshop
    const { all, recorded } = await ownBranches(workshop)
    const specs = (await knownCampaigns(workshop)).filter(({ specPath }) => specPath !== null)
    const claims: Claimed[] = [
      ...recorded.map(one => ({ ...one, started: true })),
      ...specs.map(({ name, prefix }) => ({ name, prefix, started: false })),
    ]
    const { refs } = await repository.remoteRefs(['refs/heads/*'])
    const branches = all.flatMap(ref => {
      const claim = claims.find(each => claimsBranch(each, ref))
      const oid = refs.get(ref)
      return claim === undefined || oid === undefined ? [] : [{ prefix: claim.prefix, tip: { ref, oid } }]
    })
    const ours = new Set(branches.map(({ tip }) => tip.ref))
    const left = all
      .filter(ref => !ours.has(ref) && claims.some(claim => looksLike(claim, ref)))
      .map(shortRef)
    const own = { dataDir, hadDataDir, repositoryDir: repository.dir, format: repository.objectFormat }
    return { remote, local, ...own, branches, left }
  })
}

const OFFERED = /^-(?:exp|forge)\//

function claimsBranch(claim: Claimed, ref: string): boolean {
  if (!belongsTo(claim, ref)) return false
  return claim.started || OFFERED.test(shortRef(ref).slice(claim.prefix.length))
}

function looksLike({ prefix }: Claimed, ref: string): boolean {
  return allowedRef(prefix, ref)
}

/** A branch that is checked out anywhere cannot go: said before anything is removed. */
export async function requireNotCheckedOut(call: Call, remains: Remains): Promise<void> {
  if (!remains.local) return
  const { directory, env } = call.around
  const worktrees = await gitRunner(localIsolation(directory, env)).run(listWorktrees(directory))
  const refs = new Set(remains.branches.map(({ tip }) => tip.ref))
  const held = worktrees.find(({ branch }) => branch !== null && refs.has(branch))
  if (held === undefined) return
  throw new UserError(`${shortRef(held.branch ?? '')} is checked out in ${held.path}; nothing was removed`, {
    fix: `check out another branch there (git -C ${held.path} switch -), then winnow uninstall again`,
  })
}
