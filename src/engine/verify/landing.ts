import { listTooYoungPackages } from '../../decide/packages.ts'
import { UserError } from '../../errors.ts'
import type { Commit } from '../../git/objects.ts'
import { compareTrees } from '../../git/tree.ts'
import { formatPackages } from '../../model/approval.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { Oid, Point } from '../../model/ids.ts'
import {
  getMergedTip,
  type LandingMessage,
  parseTrailers,
  renderEarlierLandingMessages,
  renderLandingMessage,
  toSeconds,
} from '../../model/landing.ts'
import { isSingleMachineOrder, type Order } from '../../model/order.ts'
import { describeUnapproved } from '../../plan/approvals.ts'
import type { CandidateFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { readCandidateFacts } from '../observe/candidate-facts.ts'
import type { AuditEvidence, LandedVerdict } from './evidence.ts'
import { listAbsentCommits } from './orders.ts'

/** One recorded move of the incumbent; `campaign` is the state before the event. */
export interface IncumbentStep {
  place: CampaignContext
  campaign: Campaign
  spec: Spec | null
  evidence: AuditEvidence
  from: Point
  to: Point
}

type MergedEvent = LedgerEvent<'merged'>

export async function findLandingGaps(step: IncumbentStep, merged: MergedEvent): Promise<string[]> {
  const { seq, sha256 } = merged.decided
  const verdict = step.evidence.verdicts.get(seq)
  if (!verdict) return [`event ${seq}, named as its verdict, keeps nothing`]
  const { event } = verdict
  if (event.experiment !== merged.experiment)
    return [`event ${seq}, named as its verdict, is about ${event.experiment}, not ${merged.experiment}`]
  if (verdict.sha256 !== sha256)
    return [
      `event ${merged.seq} names verdict ${sha256.slice(0, 12)}, event ${seq} is ${verdict.sha256.slice(0, 12)}`,
    ]
  if (verdict.gaps.length > 0) return verdict.gaps
  const order = verdict.order?.order
  if (!order) return [`its verdict (event ${seq}) names no order`]
  return [
    ...(await findTreeGaps(step, merged, order)),
    ...(await findLandingCommitGaps(step, merged, verdict)),
  ]
}

async function findTreeGaps(step: IncumbentStep, merged: MergedEvent, order: Order): Promise<string[]> {
  const { from, to } = step
  const candidate = order.candidates.find(({ label }) => label === merged.experiment)
  if (!candidate) return [`order ${order.id.slice(0, 12)} did not measure ${merged.experiment}`]
  if (order.base.tree !== from.tree)
    return [`it was measured against tree ${order.base.tree}, its parent's is ${from.tree}`]
  if (candidate.tree !== to.tree) return [`its tree is ${to.tree}, the measured one ${candidate.tree}`]
  if (candidate.head !== merged.head)
    return [`the measured head is ${candidate.head}, event ${merged.seq} says ${merged.head}`]
  const recomputed = await findCandidateGaps(step, merged.experiment, candidate)
  return recomputed.length > 0 ? recomputed : findPinGaps(step)
}

/** Merges again: the result has to be the measured tree, and its changes have to be allowed. */
async function findCandidateGaps(
  step: IncumbentStep,
  id: string,
  candidate: { head: Oid; tree: Oid },
): Promise<string[]> {
  const { place: context, campaign, spec, from } = step
  const { head } = candidate
  const absent = await listAbsentCommits(context, [head])
  if (absent.length > 0) return absent
  if (spec === null) return ['the spec in force cannot be read']
  const { repository } = context
  const facts = await readFactsOrError(
    readCandidateFacts({ repository, campaign, spec, incumbent: from, head, unsynced: null }),
  )
  if (typeof facts === 'string') return [facts]
  if (facts.merged === 'conflict') return [`its head ${head} does not merge with its first parent`]
  if (facts.tree !== candidate.tree)
    return [`merging its head ${head} makes tree ${facts.tree}, not ${candidate.tree}`]
  if (facts.refusal) return [`its change is not allowed: ${facts.refusal.message}`]
  const experiment = campaign.experiments[id]
  const rules = { spec, now: '', releases: null }
  const packages = experiment ? describeUnapproved(rules, experiment, facts) : null
  if (packages !== null) return [`it adds ${packages}, and no approval is of that set`]
  const young = experiment ? findPackageAgeGaps(experiment) : []
  if (young.length > 0) return young
  if (facts.contains !== null && experiment?.purpose !== 'revert')
    return [`its head contains ${facts.contains}, which was reverted`]
  return []
}

/** A package admitted by its age has to have been old enough when approval was requested. */
function findPackageAgeGaps({ approval, asked_at }: Experiment): string[] {
  if (approval?.min_age_days === undefined || asked_at === null) return []
  const { additions, packages, min_age_days: days } = approval
  const young = listTooYoungPackages({ min_release_age_days: days }, additions, asked_at)
  const missing = young.filter(name => !packages.includes(name))
  if (missing.length === 0) return []
  return [
    `it adds ${formatPackages(missing, additions)}, which was not submitted for approval and was not out for ${days} days`,
  ]
}

async function readFactsOrError(facts: Promise<CandidateFacts>): Promise<CandidateFacts | string> {
  try {
    return await facts
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}

/** Recreates the landing commit from its events: it has to be the same commit. */
async function findLandingCommitGaps(
  step: IncumbentStep,
  merged: MergedEvent,
  verdict: LandedVerdict,
): Promise<string[]> {
  const { place: context, from, to } = step
  const commit = await context.repository.commit(to.commit)
  const landingMessage = buildLandingWords(step, merged, verdict)
  if (merged.via !== undefined) {
    const wrong = [
      ...findForgeMergeGaps(commit, from.commit, merged, landingMessage),
      ...(await findResultsGaps(step, merged)),
    ]
    return wrong.slice(0, 1)
  }
  const tip = getMergedTip(step.campaign.experiments[merged.experiment], merged)
  const parents = findParentGaps(commit, from.commit, tip)
  if (parents.length > 0) return parents
  const results = await findResultsGaps(step, merged)
  if (results.length > 0) return results
  const earlier = renderEarlierLandingMessages(landingMessage).find(each => each === commit.message)
  const message = earlier ?? renderLandingMessage(landingMessage)
  const trailers = findTrailerGaps(commit.message, message)
  if (trailers.length > 0) return trailers
  const { tree } = to
  const again = await context.repository.writeCommit({
    tree,
    parents: commit.parents,
    message,
    date: toSeconds(verdict.event.at),
  })
  return again === to.commit ? [] : [`made again from event ${verdict.event.seq} it would be ${again}`]
}

/** GitHub's or a person's commit cannot be made again: it may add only the measured head to the incumbent. */
function findForgeMergeGaps(
  { parents, message }: Commit,
  first: string,
  { head, via }: MergedEvent,
  landingMessage: LandingMessage,
): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  const other = parents.slice(1).find(parent => parent !== head)
  if (other !== undefined) return [`it also merges ${other}, which is not the measured head ${head}`]
  // A person's commit needs no trailers, but those it has must be correct.
  return findTrailerGaps(message, renderLandingMessage(landingMessage), via === 'api')
}

function findParentGaps({ parents }: Commit, first: string, second: string): string[] {
  if (parents[0] !== first) return [`its first parent is ${parents[0] ?? 'none'}, not the incumbent ${first}`]
  if (parents[1] !== second || parents.length !== 2)
    return [`its parents after the first are ${parents.slice(1).join(', ') || 'none'}, not ${second} alone`]
  return []
}

/** The results commit adds only the results file to the measured head. */
async function findResultsGaps({ place: context }: IncumbentStep, merged: MergedEvent): Promise<string[]> {
  const { results, head, experiment } = merged
  if (results === null) return []
  const { repository, name } = context
  const absent = await listAbsentCommits(context, [results, head])
  if (absent.length > 0) return absent
  const { parents } = await repository.commit(results)
  if (parents.length !== 1 || parents[0] !== head)
    return [`its results commit ${results} is not one commit on the measured head ${head}`]
  const path = `.winnow/results/${name}/${experiment}/results.yaml`
  const changed = await repository.diff(head, results)
  const other = changed.find(entry => entry.path !== path || entry.newMode !== '100644')
  if (other) return [`its results commit ${results} also changes ${other.path}`]
  return changed.length === 1 ? [] : [`its results commit ${results} adds no ${path}`]
}

/** Invariant 4: outside scope.mutable the tree equals the pin, as it was measured. */
export async function findPinGaps({ place: context, campaign, spec, to }: IncumbentStep): Promise<string[]> {
  if (spec === null) return ['the spec in force cannot be read']
  const { pin } = campaign
  const { isMutable } = compileScope(spec)
  const differences = await compareTrees(context.repository, pin.tree, to.tree)
  const first = differences.find(({ path }) => !isMutable(path))
  return first ? [`${first.path} is outside scope.mutable and not as in the pinned commit ${pin.commit}`] : []
}

function buildLandingWords(step: IncumbentStep, merged: MergedEvent, verdict: LandedVerdict): LandingMessage {
  const { place: context, campaign } = step
  const { event, sha256, order, spec_sha256 } = verdict
  return {
    spec: context.name,
    spec_sha256,
    experiment: merged.experiment,
    hypothesis: campaign.experiments[merged.experiment]?.hypothesis ?? '',
    pull: merged.pull,
    reason: event.reason,
    decided: { seq: event.seq, sha256 },
    single_machine: order !== null && isSingleMachineOrder(order.order),
  }
}

function findTrailerGaps(found: string, expected: string, all = true): string[] {
  const [has, wants] = [parseTrailers(found), parseTrailers(expected)]
  return [...new Set([...(all ? wants.keys() : []), ...has.keys()])].flatMap(name => {
    const [said, value] = [has.get(name) ?? 'nothing', wants.get(name) ?? 'nothing']
    return said === value ? [] : [`its trailer ${name} says ${said}, the ledger ${value}`]
  })
}
