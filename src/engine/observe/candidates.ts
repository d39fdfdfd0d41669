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
  listSubjects,
} from '../../model/experiment.ts'
import type { ExperimentId, Oid } from '../../model/ids.ts'
import { buildApprovalRequest, listUnapproved } from '../../plan/approvals.ts'
import { needsPermission } from '../../plan/permissions.ts'
import { getRoundSize, hasTurn } from '../../plan/round-orders.ts'
import { type CandidateFacts, isTarget, type World } from '../../plan/world.ts'
import type { Registries, Release, ReleaseDate } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import { tryFetchCommit } from '../jobs/job-clone.ts'
import { readCandidateFacts } from './candidate-facts.ts'

interface CandidateSearch {
  repository: Repository
  memory: { candidates: Map<string, CandidateFacts> }
  campaign: Campaign
  spec: Spec
  unsynced: Oid | null
  targetBranch: string | null
  branches: World['branches']
  /** Experiments without permission to run: merged, but they take no slot of a round. */
  outsiders: World['outsiders']
  picks: World['picks']
  now: string
}

/** Stops at the size of the next round, because the incumbent may change before the others are due. */
export async function findCandidates(search: CandidateSearch): Promise<Map<ExperimentId, CandidateFacts>> {
  const { campaign, memory, spec, targetBranch } = search
  const found = new Map<ExperimentId, CandidateFacts>()
  const kept = new Map<string, CandidateFacts>()
  async function look(experiment: Experiment): Promise<CandidateFacts | null> {
    if (experiment.head === null) return null
    const key = toCandidateKey(search, experiment.head)
    const facts = memory.candidates.get(key) ?? (await readCandidate(search, experiment))
    if (facts === null) return null
    kept.set(key, facts)
    found.set(experiment.id, facts)
    return facts
  }
  const open = listExperiments(campaign).filter(({ status }) => status !== 'ended' && status !== 'not-proven')
  const queued = open.filter(
    experiment =>
      experiment.status === 'queued' &&
      isTarget(targetBranch, experiment.branch) &&
      hasTurn(campaign, experiment),
  )
  for (const experiment of open) if (isDue(campaign, experiment)) await look(experiment)
  let room = countTurns(campaign, spec, queued.length)
  for (const id of selectRound(queued, queued.length)) {
    const experiment = campaign.experiments[id]
    if (room <= 0) break
    if (!experiment || !isMeasurable(search, experiment, await look(experiment))) continue
    if (!needsPermission(search, id)) room -= 1
  }
  for (const pick of Object.values(campaign.picks)) {
    const facts = search.picks.get(pick.id)
    if (pick.status === 'ended' || facts === undefined || !('made' in facts.result)) continue
    if (pick.head !== facts.result.made.commit) continue
    const key = [pick.base, pick.head, campaign.spec_sha256].join(' ')
    const known =
      memory.candidates.get(key) ??
      (await readCandidateFacts({ ...search, incumbent: facts.base, head: pick.head, unsynced: null }))
    kept.set(key, known)
    found.set(pick.id, known)
  }
  memory.candidates = kept
  return found
}

/** All are merged when the campaign has stopped, because they are closed then. */
function countTurns({ status, round }: Campaign, spec: Spec, queued: number): number {
  if (status !== 'running') return queued
  return round?.open ? 0 : getRoundSize(spec)
}

/** Members of the open round, reverts that a person asked for, and experiments that declare new packages. */
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
  const rules = { spec, now, releases: collectRecordedDates(listSubjects(campaign)) }
  return (
    !facts.aheadOfSync && facts.contains === null && listUnapproved(rules, experiment, facts).length === 0
  )
}

function toCandidateKey({ campaign, unsynced }: CandidateSearch, head: Oid): string {
  return [campaign.incumbent.commit, head, campaign.spec_sha256, unsynced ?? ''].join(' ')
}

/** Returns null when the branch is gone or moved and its head with it: the plan handles that case. */
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
 * Maps each open experiment that contains the unlanded head of another open one to that one, because their
 * effects could not be told apart. Heads of people without permission do not count; otherwise an outsider
 * could have other experiments refused.
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
      // The earlier of two experiments with the same head is the original.
      if (other.head === head && other.number > number) continue
      if (await contains(campaign.incumbent.commit, other.head)) continue
      if (await contains(head, other.head)) found.set(id, found.get(id) ?? other.id)
    }
  }
  return found
}

/** In one tick, direct dependencies first. The age of the others is unknown. */
const MOST_LOOKUPS = 40
const CONCURRENT_LOOKUPS = 4
/** A slow registry delays a tick no longer than this. */
const MOST_LOOKUP_MS = 30_000

interface ReleaseDatesRequest {
  campaign: Campaign
  spec: World['spec']
  now: string
  candidates: World['candidates']
}

/** The request event records the dates, so each set of packages is looked up once. */
export async function readReleaseDates(
  context: { registries?: Registries | undefined; clock: { monotonic(): number } },
  memory: { releases: Map<string, ReleaseDate | null | undefined> },
  request: ReleaseDatesRequest,
): Promise<ReleaseDates> {
  const { registries, clock } = context
  const recorded = collectRecordedDates(listSubjects(request.campaign))
  if (registries === undefined || request.campaign.status !== 'running')
    return new Map([...memory.releases, ...recorded])
  const wanted = listUnknownReleases(request, new Map([...memory.releases, ...recorded]))
  for (const each of wanted.slice(MOST_LOOKUPS)) memory.releases.set(buildReleaseKey(each), undefined)
  const until = clock.monotonic() + MOST_LOOKUP_MS
  const left = wanted.slice(0, MOST_LOOKUPS)
  const ask = async (from: Registries): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const late = clock.monotonic() > until
      memory.releases.set(buildReleaseKey(next), late ? undefined : await from.publishedAt(next.release))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT_LOOKUPS }, () => ask(registries)))
  return new Map([...memory.releases, ...recorded])
}

type WantedRelease = PackageAddition & { release: Release }

/** Covers experiments and picks, so that a package passes or waits in both. */
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
      ) {
        const { ecosystem, name, version, source, integrity } = each
        const files = (integrity === null ? undefined : facts.additions.files.get(integrity)) ?? null
        const release = { ecosystem, name, version, source, integrity, files }
        found.set(buildReleaseKey(each), { ...each, release })
      }
  }
  return [...found.values()].toSorted((a, b) => Number(b.direct === true) - Number(a.direct === true))
}
