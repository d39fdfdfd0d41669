import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { moveDamagedAside } from '../../git/damage.ts'
import { readStoredJson } from '../../measure/file-system.ts'
import type { Campaign } from '../../model/campaign.ts'
import { type Oid, oidSchema, toShortRef } from '../../model/ids.ts'
import { parseTrailers } from '../../model/landing.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { isArchived } from '../campaign/recover.ts'
import type { KeptCommit } from './evidence.ts'

export interface AuditProblem {
  what: string
  seq?: number
  commit?: Oid
}

/** `unproven`: a commit on the optimize branch without evidence. `open`: it contradicts nothing. */
export interface Finding extends AuditProblem {
  is?: 'unproven' | 'open'
}

/** Checks that the optimize branch ends where the ledger says; else names the first unknown commit. */
export async function checkOptimizeBranch(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  { campaign, incumbents }: { campaign: Campaign; incumbents: ReadonlySet<Oid> },
): Promise<Finding[]> {
  const name = toShortRef(context.refs.optimize)
  const last = campaign.incumbent.commit
  const tip = refs.get(context.refs.optimize)
  if (tip === last) return []
  if (tip === undefined)
    return [{ what: `${name} is gone: the last recorded incumbent is ${last}`, commit: last, is: 'unproven' }]
  if (campaign.foreign?.to.commit === tip) {
    const what = `${name} is at ${tip}, which winnow did not push: it is known and not measured yet`
    return [{ what, commit: tip, is: 'open' }]
  }
  if (incumbents.has(tip)) {
    const what = `${name} is at ${tip}, an earlier incumbent: the last recorded one is ${last}`
    return [{ what, commit: tip, is: 'unproven' }]
  }
  return [await describeUnknownCommit(context, name, tip, incumbents)]
}

async function describeUnknownCommit(
  context: CampaignContext,
  name: string,
  tip: Oid,
  incumbents: ReadonlySet<Oid>,
): Promise<Finding> {
  const first = await findFirstUnknownCommit(context, tip, incumbents)
  if (first === null) {
    const what = `commit ${tip} on ${name} has no evidence: it does not descend from any recorded incumbent`
    return { what, commit: tip, is: 'unproven' }
  }
  const { message } = await context.repository.commit(first)
  const claim = parseTrailers(message).get('Winnow-Ledger')
  const claimed = claim === undefined ? '' : ` (its trailer claims event ${claim.slice(0, 80)})`
  const what = `commit ${first} on ${name} has no evidence: no event records it as incumbent${claimed}`
  return { what, commit: first, is: 'unproven' }
}

/** Returns the oldest commit on the first-parent path from a recorded incumbent to the tip. */
async function findFirstUnknownCommit(
  context: CampaignContext,
  tip: Oid,
  incumbents: ReadonlySet<Oid>,
): Promise<Oid | null> {
  let commit = tip
  for (;;) {
    const [parent] = (await context.repository.commit(commit)).parents
    if (parent === undefined || !(await context.repository.has(parent))) return null
    if (incumbents.has(parent)) return commit
    commit = parent
  }
}

/** The campaign branch follows the incumbent. A person may add commits to it before merging. */
export function checkCampaignBranch(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  incumbents: ReadonlySet<Oid>,
): Finding[] {
  const tip = refs.get(context.refs.campaign)
  if (tip === undefined || incumbents.has(tip)) return []
  const what = `${toShortRef(context.refs.campaign)} is at ${tip}, which is no recorded incumbent`
  return [{ what, commit: tip, is: 'open' }]
}

/** Finds synced commits that the default branch does not contain: it was rewritten, or never had them. */
export async function checkSyncedCommits(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  campaign: Campaign,
  synced: readonly Oid[],
): Promise<Finding[]> {
  const name = toShortRef(campaign.default_branch)
  const tip = refs.get(campaign.default_branch)
  const found: Finding[] = []
  for (const commit of synced) {
    if (!(await context.repository.has(commit))) continue
    if (tip !== undefined && (await context.repository.isAncestor(commit, tip))) continue
    found.push({ what: `the synced commit ${commit} is not on ${name} now`, commit, is: 'open' })
  }
  return found
}

/** Invariant 8: every measured or landed commit is reachable from the closed branch. */
export async function findLostCommits(
  context: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  kept: readonly KeptCommit[],
): Promise<Finding[]> {
  const { repository } = context
  const name = toShortRef(context.refs.closed)
  const closed = refs.get(context.refs.closed)
  if (closed === undefined) return describeLostCommits(kept, `is not kept: ${name} is gone`)
  const lost: KeptCommit[] = []
  const present: KeptCommit[] = []
  for (const each of kept) ((await repository.has(each.commit)) ? present : lost).push(each)
  const commits = present.map(({ commit }) => commit)
  const beyond = new Set(await repository.listNotContained(closed, commits))
  lost.push(...present.filter(({ commit }) => beyond.has(commit)))
  return describeLostCommits(
    lost.toSorted((a, b) => a.seq - b.seq),
    `is not reachable from ${name}`,
  )
}

function describeLostCommits(lost: readonly KeptCommit[], why: string): Finding[] {
  return lost.map(({ what, commit, seq }) => ({ what: `${what}, ${commit}, ${why}`, commit, seq }))
}

const seenTip = z.strictObject({
  tip: oidSchema,
  events: z.number().int().nonnegative(),
  at: z.iso.datetime(),
})
type SeenTip = z.infer<typeof seenTip>

/** Keyed by ledger branch, because one file may serve several campaigns. */
const file = z.record(z.string(), seenTip)

/** Audits store what they saw in winnow's cache, or in a file that a person chooses. */
export interface AuditMemory {
  path: string
  /** A person chose the file. An audit then fails on a damaged one instead of moving it aside. */
  given: boolean
}

export function locateAuditMemory(
  context: Pick<CampaignContext, 'dataDir'>,
  given: string | null,
): AuditMemory {
  return { path: given ?? join(context.dataDir, 'audited.json'), given: given !== null }
}

export interface AuditMemoryOptions {
  memory: AuditMemory
  acceptReplacement: boolean
}

interface Continuity {
  problem: string | null
  note: string
}

/**
 * Anyone who can force-push every branch can replace a ledger by another consistent one. Only an audit that
 * remembers an earlier tip detects it: the new ledger has to descend from that tip, or the earlier one has to
 * be archived.
 */
export async function checkContinuity(
  context: CampaignContext,
  { memory, acceptReplacement }: AuditMemoryOptions,
  now: Pick<SeenTip, 'tip' | 'events'>,
): Promise<Continuity> {
  const { repository, progress, refs } = context
  const last = readSeenTips(memory, line => progress.say(line))[refs.state] ?? null
  if (last === null) {
    return {
      problem: null,
      note: `First audit on this machine: the next one checks that the branch still contains ${describeTip(now)}.`,
    }
  }
  const seen = `${describeTip(last)}, audited here on ${last.at}`
  const hasIt = await repository.has(last.tip)
  if (last.tip === now.tip || (hasIt && (await repository.isAncestor(last.tip, now.tip))))
    return { problem: null, note: `The ledger continues ${seen}.` }
  if (await isArchived(context, last.tip))
    return { problem: null, note: `This is another ledger: ${seen}, is archived.` }
  const replaced = `${toShortRef(context.refs.state)} was replaced: ${describeTip(now)}, does not descend from ${seen}`
  if (acceptReplacement) return { problem: null, note: `Accepted: ${replaced}.` }
  return {
    problem: `${replaced}; if you know why, accept it with winnow audit --accept-replacement`,
    note: '',
  }
}

function describeTip({ tip, events }: Pick<SeenTip, 'tip' | 'events'>): string {
  return `the ledger at ${tip.slice(0, 12)} (up to event ${events - 1})`
}

export async function rememberTip(
  context: CampaignContext,
  memory: AuditMemory,
  seen: SeenTip,
): Promise<void> {
  const { path } = memory
  const all = { ...readSeenTips(memory, line => context.progress.say(line)), [context.refs.state]: seen }
  const part = `${path}.${context.random.hex(4)}.part`
  await mkdir(dirname(path), { recursive: true })
  await writeFile(part, `${JSON.stringify(all, null, 2)}\n`)
  await rename(part, path)
}

function readSeenTips({ path, given }: AuditMemory, say: (line: string) => void): z.infer<typeof file> {
  const stored = readStoredJson(path)
  if (stored === null) return {}
  const found = file.safeParse(stored).data
  if (found !== undefined) return found
  if (given) {
    throw new UserError('the record of earlier audits cannot be read', {
      place: { file: path },
      fix: 'restore the file, or remove it to start a new record',
    })
  }
  say(
    `The record of earlier audits was damaged. winnow moved it to ${moveDamagedAside(path)} and starts a new one.`,
  )
  return {}
}
