import { selectRound } from '../decide/select.ts'
import { ConflictError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import type { ExperimentId, Oid, Point } from '../model/ids.ts'
import { listUnapproved } from '../plan/approvals.ts'
import { collectRecordedDates } from '../model/release.ts'
import { isTarget } from '../plan/only.ts'
import { hasTurn, getRoundSize } from '../plan/rounds.ts'
import { needsPermission } from '../plan/strangers.ts'
import type { CandidateFacts, World } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'
import { readCandidateFacts } from './facts/candidate.ts'
import { tryFetchCommit } from './ordered-trees.ts'

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
