import { existsSync } from 'node:fs'
import { getDataDir } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { isAllowedRef } from '../git/allowed-ref.ts'
import { inspectCheckout } from '../git/checkout.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import type { RemoteTip } from '../git/fetch.ts'
import type { ObjectFormat } from '../git/object-format.ts'
import { createGitRunner } from '../git/runner.ts'
import { listWorktrees } from '../git/worktrees.ts'
import { toShortRef } from '../model/refs.ts'
import { withRepository } from './at-campaign.ts'
import type { Call } from './call.ts'
import { DEFAULT_PREFIX, listKnownCampaigns } from './known-campaigns.ts'
import { isCampaignBranch, listOwnBranches, type RecordedCampaign } from './own-branches.ts'

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

interface ClaimedCampaign extends RecordedCampaign {
  /** Without a ledger only what was offered is winnow's; the name of the optimize branch proves nothing. */
  started: boolean
}

/** Fetches nothing but ledgers: what there is, and nothing changed. */
export async function findRemains(call: Call, remote: string | null): Promise<Remains> {
  const around = { ...call.around, remote }
  const checkout = await inspectCheckout(around.directory, around.env)
  const dataDir = getDataDir(checkout, around)
  const hadDataDir = existsSync(dataDir)
  return withRepository({ ...call, around }, DEFAULT_PREFIX, async workshop => {
    const { repository, local } = workshop
    const { all, recorded } = await listOwnBranches(workshop)
    const specs = (await listKnownCampaigns(workshop)).filter(({ specPath }) => specPath !== null)
    const claims: ClaimedCampaign[] = [
      ...recorded.map(one => ({ ...one, started: true })),
      ...specs.map(({ name, prefix }) => ({ name, prefix, started: false })),
    ]
    const { refs } = await repository.remoteRefs(['refs/heads/*'])
    const branches = all.flatMap(ref => {
      const claim = claims.find(each => isClaimedBranch(each, ref))
      const oid = refs.get(ref)
      return claim === undefined || oid === undefined ? [] : [{ prefix: claim.prefix, tip: { ref, oid } }]
    })
    const ours = new Set(branches.map(({ tip }) => tip.ref))
    const left = all
      .filter(ref => !ours.has(ref) && claims.some(claim => isAllowedBranch(claim, ref)))
      .map(toShortRef)
    const own = { dataDir, hadDataDir, repositoryDir: repository.dir, format: repository.objectFormat }
    return { remote, local, ...own, branches, left }
  })
}

const OFFERED = /^-(?:exp|forge)\//

function isClaimedBranch(claim: ClaimedCampaign, ref: string): boolean {
  if (!isCampaignBranch(claim, ref)) return false
  return claim.started || OFFERED.test(toShortRef(ref).slice(claim.prefix.length))
}

function isAllowedBranch({ prefix }: ClaimedCampaign, ref: string): boolean {
  return isAllowedRef(prefix, ref)
}

/** A branch that is checked out anywhere cannot go: said before anything is removed. */
export async function requireNotCheckedOut(call: Call, remains: Remains): Promise<void> {
  if (!remains.local) return
  const { directory, env } = call.around
  const worktrees = await createGitRunner(buildLocalIsolation(directory, env)).run(listWorktrees(directory))
  const refs = new Set(remains.branches.map(({ tip }) => tip.ref))
  const held = worktrees.find(({ branch }) => branch !== null && refs.has(branch))
  if (held === undefined) return
  throw new UserError(
    `${toShortRef(held.branch ?? '')} is checked out in ${held.path}; nothing was removed`,
    {
      fix: `check out another branch there (git -C ${held.path} switch -), then winnow uninstall again`,
    },
  )
}
