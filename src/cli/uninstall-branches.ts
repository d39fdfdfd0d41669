import { existsSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { basename } from 'node:path'
import { getDataDir, type RepositoryContext } from '../engine/campaign/open.ts'
import { ConflictError, ForgeError, UserError } from '../errors.ts'
import type { RemoteTip } from '../git/fetch.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import type { ObjectFormat } from '../git/object-format.ts'
import { saveBundle } from '../git/packs.ts'
import { isAllowedRef } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import { createGitRunner } from '../git/runner.ts'
import { inspectCheckout, listWorktrees } from '../git/work-tree.ts'
import { removeAll } from '../measure/file-system.ts'
import { toShortRef } from '../model/ids.ts'
import { quoteShell } from '../model/text.ts'
import { withRepository } from './context.ts'
import { DEFAULT_PREFIX, listKnownCampaigns, readCampaignStart } from './known-campaigns.ts'
import type { Call } from './verb.ts'

export interface Remains {
  /** Value of --remote; null for the default remote. */
  remote: string | null
  local: boolean
  /** winnow's own directory for the repository. Inspecting it creates the directory. */
  dataDir: string
  hadDataDir: boolean
  repositoryDir: string
  format: ObjectFormat
  branches: { prefix: string; tip: RemoteTip }[]
  /** Branches that look like winnow's, but that no ledger claims. */
  unclaimed: string[]
}

/** A campaign with a ledger, active or archived. */
interface RecordedCampaign {
  prefix: string
  name: string
}

interface ClaimedCampaign extends RecordedCampaign {
  /** Without a ledger, only experiment branches count. The name of the optimize branch is no proof. */
  started: boolean
}

interface OwnBranches {
  /** Full ref names. */
  all: string[]
  recorded: RecordedCampaign[]
  /** Takes a short name. True if a ledger proves that winnow made the branch. */
  isOurs: (branch: string) => boolean
}

const OWN_LEDGER = /^refs\/heads\/(.+)-(?:state\/([^/]+)|archive\/([^/]+)\/[^/]+\/state)$/
const OFFERED = /^-exp\//
const LEDGER_BRANCH = /-(?:state|closed|archive)\//
const MAX_UPDATES_PER_PUSH = 300

/** Fetches only ledgers and changes nothing. */
export async function findRemains(call: Call, remote: string | null): Promise<Remains> {
  const environment = { ...call.environment, remote }
  const checkout = await inspectCheckout(environment.directory, environment.env)
  const dataDir = getDataDir(checkout, environment)
  const hadDataDir = existsSync(dataDir)
  return withRepository({ ...call, environment }, DEFAULT_PREFIX, async repositoryContext => {
    const { repository, local } = repositoryContext
    const { all, recorded } = await listOwnBranches(repositoryContext)
    const specs = (await listKnownCampaigns(repositoryContext)).filter(({ specPath }) => specPath !== null)
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
    const unclaimed = all
      .filter(ref => !ours.has(ref) && claims.some(claim => isAllowedBranch(claim, ref)))
      .map(toShortRef)
    const paths = { dataDir, hadDataDir, repositoryDir: repository.dir, format: repository.objectFormat }
    return { remote, local, ...paths, branches, unclaimed }
  })
}

/** A branch that is checked out cannot be deleted. Fails before anything is removed. */
export async function requireNotCheckedOut(call: Call, remains: Remains): Promise<void> {
  if (!remains.local) return
  const { directory, env } = call.environment
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

/** Writes to a temporary file first, so that the bundle is complete or missing. */
export async function saveRemains(call: Call, remains: Remains, file: string): Promise<void> {
  const { env } = call.environment
  const environment = { ...call.environment, remote: remains.remote }
  const tips = remains.branches.map(({ tip }) => tip)
  await withRepository({ ...call, environment }, listBranchPrefixes(remains)[0] ?? '', ({ repository }) =>
    repository.fetch(tips),
  )
  const { repositoryDir: dir, format } = remains
  const part = `${file}.part`
  await saveBundle({ dir, format, tips, file: part, env })
  await rename(part, file)
}

export function formatBundleName(repositoryPath: string, now: number, local: boolean): string {
  const date = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-')
  const name = basename(repositoryPath)
    .replace(/\.git$/, '')
    .replaceAll(/[^\w.-]/g, '-')
  return `winnow-${name}${local ? '' : '-remote'}-${date}.bundle`
}

export function renderRestoreHint({ local }: Remains, file: string, remoteName: string): string {
  const path = quoteShell(file)
  if (local) return `git fetch ${path} 'refs/heads/*:refs/heads/*'`
  return `git fetch ${path} 'refs/heads/*:refs/winnow-saved/*' && git push ${remoteName} 'refs/winnow-saved/*:refs/heads/*'`
}

/** Deletes branches first, then local data. Can be repeated after a crash. */
export async function removeRemains(call: Call, remains: Remains): Promise<void> {
  const environment = { ...call.environment, remote: remains.remote }
  for (const prefix of listBranchPrefixes(remains)) {
    await withRepository({ ...call, environment }, prefix, async ({ repository }) => {
      await deleteBranches(
        repository,
        remains.branches.filter(each => each.prefix === prefix),
      )
    })
  }
  await removeAll(remains.dataDir)
}

/** Deletes experiments before the ledger, which proves that the remaining branches are winnow's. */
async function deleteBranches(repository: Repository, branches: Remains['branches']): Promise<void> {
  const ordered = branches.toSorted((a, b) => Number(isLedger(a)) - Number(isLedger(b)))
  for (let at = 0; at < ordered.length; at += MAX_UPDATES_PER_PUSH) {
    const updates = ordered
      .slice(at, at + MAX_UPDATES_PER_PUSH)
      .map(({ tip }) => ({ ref: tip.ref, from: tip.oid, to: null }))
    const result = await repository.push(updates)
    if (result.ok) continue
    if (result.reason === 'lease')
      throw new ConflictError('branches moved while they were removed', result.refs)
    if (result.reason === 'checked-out') {
      throw new UserError(`${toShortRef(result.ref)} is checked out in ${result.worktree}`, {
        fix: 'check out another branch there, then winnow uninstall again',
      })
    }
    throw new ForgeError('the remote does not let winnow remove its branches', { output: result.message })
  }
}

function isLedger({ prefix, tip }: Remains['branches'][number]): boolean {
  const name = toShortRef(tip.ref)
  return LEDGER_BRANCH.test(name) || name.startsWith(`${prefix}/`)
}

function listBranchPrefixes({ branches }: Remains): string[] {
  return [...new Set(branches.map(({ prefix }) => prefix))]
}

/** A name is no proof. A branch is winnow's only if a ledger of its campaign exists. */
export async function listOwnBranches({ repository }: RepositoryContext): Promise<OwnBranches> {
  const { refs } = await repository.remoteRefs(['refs/heads/*'])
  const all = [...refs.keys()]
  const recorded = new Map<string, RecordedCampaign>()
  for (const [ref, oid] of refs) {
    const [, prefix, state, archived] = OWN_LEDGER.exec(ref) ?? []
    const name = state ?? archived
    if (prefix === undefined || name === undefined || !isAllowedRef(prefix, ref)) continue
    const start = await readCampaignStart(repository, { ref, oid })
    if (start?.spec === name) recorded.set(`${prefix} ${name}`, { prefix, name })
  }
  const campaigns = [...recorded.values()]
  const isOurs = (branch: string) => campaigns.some(campaign => isCampaignBranch(campaign, branch))
  return { all, recorded: campaigns, isOurs }
}

function isClaimedBranch(claim: ClaimedCampaign, ref: string): boolean {
  if (!isCampaignBranch(claim, ref)) return false
  return claim.started || OFFERED.test(toShortRef(ref).slice(claim.prefix.length))
}

function isAllowedBranch({ prefix }: ClaimedCampaign, ref: string): boolean {
  return isAllowedRef(prefix, ref)
}

function isCampaignBranch({ prefix, name }: RecordedCampaign, branch: string): boolean {
  const short = toShortRef(branch)
  if (!isAllowedRef(prefix, `refs/heads/${short}`)) return false
  return short.slice(prefix.length).split('/')[1] === name
}
