import { selectRound } from '../../decide/selection.ts'
import { ConflictError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import {
  buildReleaseKey,
  collectRecordedDates,
  findLockedVersions,
  type PackageAddition,
  type ReleaseDates,
} from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import {
  type Experiment,
  findSubject,
  isAwaitingPermission,
  listExperiments,
} from '../../model/experiment.ts'
import type { ExperimentId, Oid, Point } from '../../model/ids.ts'
import { buildApprovalRequest, listUnapproved } from '../../plan/approvals.ts'
import { needsPermission } from '../../plan/permissions.ts'
import { getRoundSize, hasTurn } from '../../plan/round-orders.ts'
import { type CandidateFacts, isTarget, type World } from '../../plan/world.ts'
import type { Registries, Release, ReleaseDate } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import { tryFetchCommit } from '../jobs/load-order.ts'
import { readCandidateFacts } from './candidate-facts.ts'

interface CandidateSearch {
  repository: Repository
  memory: { candidates: Map<string, CandidateFacts> }
  campaign: Campaign
  spec: Spec
  /** The default branch's tip where the incumbent lacks it. */
  unsynced: Oid | null
  targetBranch: string | null
  /** Where every branch of an experiment is now. */
  branches: World['branches']
  /** Those that may not run yet: looked at, but in nobody's place. */
  outsiders: World['outsiders']
  picks: World['picks']
  now: string
}

/**
 * Experiments merged with the incumbent: those whose turn it is. The queue is merged only as far as the next
 * round reaches, because the incumbent may be another one when the rest is due.
 */
export async function findCandidates(looking: CandidateSearch): Promise<Map<ExperimentId, CandidateFacts>> {
  const { campaign, memory, spec, targetBranch: only } = looking
  const found = new Map<ExperimentId, CandidateFacts>()
  const kept = new Map<string, CandidateFacts>()
  async function look(experiment: Experiment): Promise<CandidateFacts | null> {
    if (experiment.head === null) return null
    const key = toCandidateKey(looking, experiment.head)
    const facts = memory.candidates.get(key) ?? (await readCandidate(looking, experiment))
    if (facts === null) return null
    kept.set(key, facts)
    found.set(experiment.id, facts)
    return facts
  }
  const open = listExperiments(campaign).filter(({ status }) => status !== 'ended' && status !== 'parked')
  const queued = open.filter(
    experiment =>
      experiment.status === 'queued' && isTarget(only, experiment.branch) && hasTurn(campaign, experiment),
  )
  for (const experiment of open) if (isDue(campaign, experiment)) await look(experiment)
  let room = countTurns(campaign, spec, queued.length)
  for (const id of selectRound(queued, queued.length)) {
    const experiment = campaign.experiments[id]
    if (room <= 0) break
    if (!experiment || !isMeasurable(looking, experiment, await look(experiment))) continue
    if (!needsPermission(looking, id)) room -= 1
  }
  for (const pick of Object.values(campaign.picks)) {
    const facts = looking.picks.get(pick.id)
    if (pick.status === 'ended' || facts === undefined || !('made' in facts.result)) continue
    if (pick.head !== facts.result.made.commit) continue
    const key = [pick.base, pick.head, campaign.spec_sha256].join(' ')
    const known =
      memory.candidates.get(key) ?? (await readDefaultBranchCandidate(looking, facts.base, pick.head))
    kept.set(key, known)
    found.set(pick.id, known)
  }
  memory.candidates = kept
  return found
}

function readDefaultBranchCandidate({ repository, campaign, spec }: CandidateSearch, base: Point, head: Oid) {
  return readCandidateFacts({ repository, campaign, spec, incumbent: base, head, unsynced: null })
}

/** While a round is open nobody else has a turn; when the campaign has stopped everybody is closed. */
function countTurns({ status, round }: Campaign, spec: Spec, queued: number): number {
  if (status !== 'running') return queued
  return round?.open ? 0 : getRoundSize(spec)
}

/** Members of the open round, what a person asked to have back, and what says that it needs packages. */
function isDue(campaign: Campaign, { status, round, purpose, required_deps }: Experiment): boolean {
  if (status !== 'queued' || purpose === 'revert' || required_deps.length > 0) return true
  return round !== null && round === campaign.round?.number
}

function isMeasurable(
  { spec, now, campaign }: CandidateSearch,
  experiment: Experiment,
  facts: CandidateFacts | null,
): boolean {
  if (facts?.merged !== 'clean' || facts.refusal !== null) return false
  const rules = { spec, now, releases: collectRecordedDates(campaign) }
  return (
    !facts.aheadOfSync && facts.contains === null && listUnapproved(rules, experiment, facts).length === 0
  )
}

function toCandidateKey({ campaign, unsynced }: CandidateSearch, head: Oid): string {
  return [campaign.incumbent.commit, head, campaign.spec_sha256, unsynced ?? ''].join(' ')
}

/** Null where its branch is gone, or elsewhere by now, and its head with it: then that is what there is to say. */
async function readCandidate(
  { repository, campaign, spec, unsynced, branches }: CandidateSearch,
  { head, branch }: Experiment,
): Promise<CandidateFacts | null> {
  if (head === null) return null
  if (!(await tryFetchCommit(repository, head))) {
    if (branch === null || branches.get(branch) !== head) return null
    throw new ConflictError(`commit ${head} is gone from the remote while it was looked at`, [head])
  }
  return readCandidateFacts({ repository, campaign, spec, incumbent: campaign.incumbent, head, unsynced })
}

/**
 * Which open experiments have another open one's head in them that has not landed: what they bring could not be told
 * apart. Heads of people who may not write count for nothing here, or anybody could have others refused.
 */
export async function findStackedExperiments(
  repository: Pick<Repository, 'isAncestor' | 'has'>,
  { ancestors }: { ancestors: Map<string, boolean> },
  campaign: Campaign,
): Promise<Map<ExperimentId, ExperimentId>> {
  async function contains(commit: Oid, other: Oid): Promise<boolean> {
    const key = `${other} ${commit}`
    const known = ancestors.get(key)
    if (known !== undefined) return known
    const is =
      (await repository.has(commit)) &&
      (await repository.has(other)) &&
      (await repository.isAncestor(other, commit))
    ancestors.set(key, is)
    return is
  }

  const found = new Map<ExperimentId, ExperimentId>()
  const open = listExperiments(campaign).filter(({ status }) => status !== 'ended')
  for (const { id, head, number } of open.filter(({ owned, status }) => !owned && status === 'queued')) {
    for (const other of open) {
      if (head === null || other.head === null || other.id === id || isAwaitingPermission(other)) continue
      if (isSameAndLater(other, { head, number }) || (await contains(campaign.incumbent.commit, other.head)))
        continue
      if (await contains(head, other.head)) found.set(id, found.get(id) ?? other.id)
    }
  }
  return found
}

/** Of two with the same head the first is the one that was there. */
function isSameAndLater(other: Experiment, { head, number }: Pick<Experiment, 'head' | 'number'>): boolean {
  return other.head === head && other.number > number
}

/** So many releases are asked about at a look, the ones that were asked for by name first; of more nothing is known. */
const MOST_ASKED = 40
const AT_ONCE = 4
/** However slow the registries are, a look takes no longer because of them. */
const PATIENCE_MS = 30_000

interface ReleaseDatesRequest {
  campaign: Campaign
  spec: World['spec']
  now: string
  candidates: World['candidates']
}

/**
 * When the packages were published that somebody is about to be asked about. Each set is asked about once: what came
 * of it is in the event that asks, and everything after reads it there.
 */
export async function readReleaseDates(
  place: { registries?: Registries | undefined; clock: { monotonic(): number } },
  memory: { releases: Map<string, ReleaseDate | null | undefined> },
  asking: ReleaseDatesRequest,
): Promise<ReleaseDates> {
  const { registries, clock } = place
  const recorded = collectRecordedDates(asking.campaign)
  if (registries === undefined || asking.campaign.status !== 'running')
    return new Map([...memory.releases, ...recorded])
  const wanted = listUnknownReleases(asking, new Map([...memory.releases, ...recorded]))
  for (const each of wanted.slice(MOST_ASKED)) memory.releases.set(buildReleaseKey(each), undefined)
  const until = clock.monotonic() + PATIENCE_MS
  const left = wanted.slice(0, MOST_ASKED)
  const ask = async (from: Registries): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const late = clock.monotonic() > until
      memory.releases.set(buildReleaseKey(next), late ? undefined : await from.publishedAt(next.release))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, () => ask(registries)))
  return new Map([...memory.releases, ...recorded])
}

function toRelease(
  { ecosystem, name, version, source, integrity }: PackageAddition,
  facts: MergedCandidate,
): Release {
  const files = integrity === null ? undefined : facts.additions.files.get(integrity)
  return { ecosystem, name, version, source, integrity, files: files ?? null }
}

type MergedCandidate = Extract<CandidateFacts, { merged: 'clean' }>
type WantedRelease = PackageAddition & { release: Release }

/** Of experiments, and of changes that are taken alone: the same packages pass or wait in both. */
function listUnknownReleases(
  { campaign, spec, now, candidates }: ReleaseDatesRequest,
  known: ReleaseDates,
): WantedRelease[] {
  const found = new Map<string, WantedRelease>()
  for (const [id, facts] of candidates) {
    const experiment = findSubject(campaign, id)
    const waits = experiment?.status === 'queued' || experiment?.status === 'deferred'
    if (!experiment || !waits || facts.merged !== 'clean' || facts.refusal !== null || facts.aheadOfSync)
      continue
    const { digest, packages } = buildApprovalRequest({ spec, now, releases: known }, experiment, facts)
    if (digest === experiment.approval?.digest) continue
    if (packages.length === 0 && spec.dependencies.min_release_age_days === 0) continue
    for (const each of facts.additions.packages)
      if (
        !known.has(buildReleaseKey(each)) &&
        findLockedVersions(each, facts.additions.packages).length === 0
      )
        found.set(buildReleaseKey(each), { ...each, release: toRelease(each, facts) })
  }
  return [...found.values()].toSorted((a, b) => Number(b.direct === true) - Number(a.direct === true))
}
