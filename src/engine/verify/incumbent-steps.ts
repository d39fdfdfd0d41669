import { assessCandidate } from '../../decide/assess.ts'
import { listTooYoungPackages } from '../../decide/packages.ts'
import { UserError } from '../../errors.ts'
import type { Commit } from '../../git/objects.ts'
import { compareTrees, readTreeFile } from '../../git/tree.ts'
import { formatPackages } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Experiment } from '../../model/experiment.ts'
import { isSamePoint, type Oid, type OrderId, type Point } from '../../model/ids.ts'
import {
  getMergedTip,
  type LandingMessage,
  parseTrailers,
  renderEarlierLandingMessages,
  renderLandingMessage,
  toSeconds,
} from '../../model/landing.ts'
import { isSingleMachineOrder, type Order } from '../../model/order.ts'
import { findUnisolatedWarning } from '../../model/reach.ts'
import { explainUnapproved } from '../../plan/approvals.ts'
import { isForeignPassing } from '../../plan/branch-changes.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { findForeignRefusal, readCandidateFacts } from '../observe/candidate-facts.ts'
import { computeTreeHarness, findContainedLandings, isUnread } from '../observe/sync.ts'
import {
  type AuditEvidence,
  findMeasurement,
  type LandedVerdict,
  type MissingEvidence,
  type OrderMeasurement,
} from './evidence.ts'
import { listAbsentCommits } from './orders.ts'

/** Invariant 1: returns what a proof of this commit lacks; an empty list when it is proven. */
export async function findStepGaps(
  base: Omit<IncumbentStep, 'from' | 'to' | 'spec'> & { spec: Spec | null },
  event: LedgerEvent<'incumbent-moved'>,
): Promise<string[]> {
  const { context, campaign, evidence, spec } = base
  if (spec === null) return ['the spec in force cannot be read']
  const { from, to, why } = event
  if (!isSamePoint(from, campaign.incumbent))
    return [`event ${event.seq} starts at ${from.commit}, the incumbent was ${campaign.incumbent.commit}`]
  const absent = await listAbsentCommits(context, [from.commit, to.commit])
  if (absent.length > 0) return absent
  const { tree } = await context.repository.commit(to.commit)
  if (tree !== to.tree) return [`its tree is ${tree}, event ${event.seq} records ${to.tree}`]
  const incumbentEvent = evidence.incumbentEvents.get(to.commit)
  const step = { ...base, spec, from, to }
  if (why === 'merged' && incumbentEvent?.kind === 'merged') return findLandingGaps(step, incumbentEvent)
  if (why === 'synced' && incumbentEvent?.kind === 'synced') return findSyncGaps(step, incumbentEvent)
  if (why === 'reverted' && incumbentEvent?.kind === 'reverted') return findRevertGaps(step, incumbentEvent)
  if (why === 'foreign' && incumbentEvent?.kind === 'foreign-tip')
    return findForeignGaps(step, incumbentEvent)
  return [`event ${event.seq} says ${why}, but no event before it says what was ${why}`]
}

type SyncedEvent = LedgerEvent<'synced'>

/** A valid sync merges only the default branch's tip and is measured with the harness that it brings. */
async function findSyncGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const absent = await listAbsentCommits(step.context, [synced.default_tip])
  if (absent.length > 0) return absent
  const commit = await findSyncCommitGaps(step, synced)
  return commit.length > 0 ? commit : findSyncMeasurementGaps(step, synced)
}

async function findSyncCommitGaps(
  { context, campaign, from, to }: IncumbentStep,
  synced: SyncedEvent,
): Promise<string[]> {
  const { repository } = context
  const { default_tip: tip } = synced
  const { parents } = await repository.commit(to.commit)
  if (parents.length !== 2 || parents[0] !== from.commit || parents[1] !== tip)
    return [`its parents are ${parents.join(', ')}, not the incumbent ${from.commit} and ${tip}`]
  const { tree } = await repository.commit(tip)
  if (tree !== synced.default_tree) return [`its default branch has tree ${tree}, not ${synced.default_tree}`]
  const holds = await findContainedLandings(repository, campaign, tip)
  if (holds.join() !== synced.holds.join())
    return [
      `of what was kept ${tip} has ${holds.join(', ') || 'nothing'}, not ${synced.holds.join(', ') || 'nothing'}`,
    ]
  const merged = await returnUserError(repository.mergeTree(from.commit, tip))
  if (merged instanceof UserError || !merged.clean)
    return [`${tip} does not merge with the incumbent ${from.commit}`]
  return merged.tree === to.tree ? [] : [`merging ${tip} makes tree ${merged.tree}, not ${to.tree}`]
}

async function findSyncMeasurementGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { campaign, spec } = step
  const { order: orderId, seq } = synced
  if (orderId === null) return findUnreadGaps(step, synced)
  const measured = findStepMeasurement(step, { order: orderId, seq }, 'sync')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  if (order.harness !== campaign.harness || order.spec_sha256 !== campaign.spec_sha256)
    return [`${name} was measured with another spec or harness than the one in force since`]
  const rulerGaps = await findSyncRulerGaps(step, synced)
  if (rulerGaps.length > 0) return rulerGaps
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'sync', baseline: null })
  return outcome === 'eligible' ? [] : [`judged again, ${name} says ${outcome}: ${reason}`]
}

async function findUnreadGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { context, spec, evidence, from, to } = step
  if (evidence.harnessChanges.has(to.commit)) return ['it was not measured, and changes the harness']
  const rulerGaps = await findSyncRulerGaps(step, synced)
  if (rulerGaps.length > 0) return rulerGaps
  return (await isUnread(context.repository, spec, { from: from.tree, to: to.tree }))
    ? []
    : ['it was not measured, and the harness, a gate or setup may read the files that it changes']
}

async function findSyncRulerGaps(
  { context, campaign, spec, to }: IncumbentStep,
  synced: SyncedEvent,
): Promise<string[]> {
  const harness = await computeTreeHarness(context.repository, spec, to.tree)
  if (harness !== synced.harness)
    return [`its harness is ${harness.slice(0, 12)}, event ${synced.seq} says ${synced.harness.slice(0, 12)}`]
  const { tree } = await context.repository.commit(synced.default_tip)
  const yaml = await readTreeFile(context.repository, tree, campaign.spec_path)
  if (yaml === null) return [`${campaign.spec_path} is not in ${synced.default_tip}`]
  const found = hashSha256(yaml)
  if (found === campaign.default_spec_sha256) return []
  return [`the spec of ${synced.default_tip} is ${found.slice(0, 12)}, which no event put in force`]
}

/** A commit that another person pushed. A valid adopting event covers all commits up to it. */
async function findForeignGaps(step: IncumbentStep, adopted: LedgerEvent<'foreign-tip'>): Promise<string[]> {
  const { context, spec, from, to } = step
  if (!isSamePoint(adopted.from, from) || !isSamePoint(adopted.to, to))
    return [`event ${adopted.seq} adopts ${adopted.to.commit} from ${adopted.from.commit}, not this step`]
  const measured = findForeignMeasurementGaps(step, adopted)
  if (measured.length > 0) return measured
  const refusal = await findForeignRefusal(context.repository, spec, { from: from.tree, to: to.tree })
  return refusal ? [`its change is not allowed: ${refusal.message}`] : findPinGaps(step)
}

function findForeignMeasurementGaps(
  step: IncumbentStep,
  { order: id, seq }: LedgerEvent<'foreign-tip'>,
): string[] {
  if (id === null) return [`event ${seq} adopts it without an order that measured it`]
  const measured = findStepMeasurement(step, { order: id, seq }, 'foreign')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assessCandidate({ spec: step.spec, order, report, label: 'foreign', baseline })
  if (isForeignPassing(assessment)) return []
  return [`judged again, ${name} says ${assessment.outcome}: ${assessment.reason}`]
}

type RevertedEvent = LedgerEvent<'reverted'>

/** A direct revert: the tree without the landing was measured before and passed its checks. */
async function findRevertGaps(step: IncumbentStep, reverted: RevertedEvent): Promise<string[]> {
  const { context, campaign, spec, evidence, from, to } = step
  const { parents } = await context.repository.commit(to.commit)
  if (parents.length !== 1 || parents[0] !== from.commit)
    return [`its parents are ${parents.join(', ') || 'none'}, not the incumbent ${from.commit} alone`]
  const measured = findMeasurement(evidence, { order: reverted.measured_in, seq: reverted.seq })
  if ('gaps' in measured) return measured.gaps
  const { name, order } = measured
  if (order.harness !== campaign.harness) return [`${name} was measured with a harness no longer in force`]
  const failed = explainUnmeasuredTree(measured, to.tree, spec)
  return failed === null ? findPinGaps(step) : [`${name} ${failed}`]
}

/** The base of an order in force is an incumbent with its own proof; a candidate must have passed. */
function explainUnmeasuredTree({ order, report }: OrderMeasurement, tree: Oid, spec: Spec): string | null {
  if (order.base.tree === tree) return null
  const candidate = order.candidates.find(entry => entry.tree === tree)
  if (!candidate || report.trees[candidate.label] !== tree) return `did not measure tree ${tree}`
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const { label } = candidate
  const { outcome, retry, reason } = assessCandidate({ spec, order, report, label, baseline })
  const holds = outcome === 'eligible' || outcome === 'dropped' || outcome === 'inconclusive'
  return holds && !retry ? null : `found tree ${tree} ${outcome}: ${reason}`
}

/** Returns the order that measured exactly this step before the event that relies on it, or the gaps. */
function findStepMeasurement(
  { evidence, from, to }: IncumbentStep,
  reliance: { order: OrderId; seq: number },
  label: 'foreign' | 'sync',
): OrderMeasurement | MissingEvidence {
  const measured = findMeasurement(evidence, reliance)
  if ('gaps' in measured) return measured
  const { name, order, report } = measured
  const [candidate] = order.candidates
  const same = candidate?.label === label && candidate.tree === to.tree && order.base.tree === from.tree
  if (same && report.trees[label] === to.tree) return measured
  return { gaps: [`${name} measured another tree than ${to.tree}`] }
}

/** One recorded move of the incumbent; `campaign` is the state before the event. */
export interface IncumbentStep {
  context: CampaignContext
  campaign: Campaign
  spec: Spec
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
  const { context, campaign, spec, from } = step
  const { head } = candidate
  const absent = await listAbsentCommits(context, [head])
  if (absent.length > 0) return absent
  const { repository } = context
  const facts = await returnUserError(
    readCandidateFacts({ repository, campaign, spec, incumbent: from, head, unsynced: null }),
  )
  if (facts instanceof UserError) return [facts.message]
  if (facts.merged === 'conflict') return [`its head ${head} does not merge with its first parent`]
  if (facts.tree !== candidate.tree)
    return [`merging its head ${head} makes tree ${facts.tree}, not ${candidate.tree}`]
  if (facts.refusal) return [`its change is not allowed: ${facts.refusal.message}`]
  const experiment = campaign.experiments[id]
  const rules = { spec, now: '', releases: null }
  const unapproved = experiment ? explainUnapproved(rules, experiment, facts, 'unrecorded') : null
  if (unapproved !== null) return [unapproved]
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

async function returnUserError<T>(work: Promise<T>): Promise<T | UserError> {
  try {
    return await work
  } catch (error) {
    if (error instanceof UserError) return error
    throw error
  }
}

/** Recreates the landing commit from its events: it has to be the same commit. */
async function findLandingCommitGaps(
  step: IncumbentStep,
  merged: MergedEvent,
  verdict: LandedVerdict,
): Promise<string[]> {
  const { context, from, to } = step
  const commit = await context.repository.commit(to.commit)
  const landingMessage = buildExpectedMessage(step, merged, verdict)
  if (merged.via !== undefined) {
    const wrong = [
      ...findForgeMergeGaps(commit, from.commit, merged, landingMessage),
      ...(await findResultsGaps(step, merged)),
    ]
    return wrong.slice(0, 1)
  }
  const tip = getMergedTip(step.campaign.experiments[merged.experiment], merged)
  const parentGaps = findParentGaps(commit, from.commit, tip)
  if (parentGaps.length > 0) return parentGaps
  const results = await findResultsGaps(step, merged)
  if (results.length > 0) return results
  const earlier = renderEarlierLandingMessages(landingMessage).find(each => each === commit.message)
  const message = earlier ?? renderLandingMessage(landingMessage)
  const trailers = findTrailerGaps(commit.message, message)
  if (trailers.length > 0) return trailers
  const { tree } = to
  const { parents } = commit
  const date = toSeconds(verdict.event.at)
  const again = await context.repository.writeCommit({ tree, parents, message, date })
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
async function findResultsGaps({ context }: IncumbentStep, merged: MergedEvent): Promise<string[]> {
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
export async function findPinGaps({ context, campaign, spec, to }: IncumbentStep): Promise<string[]> {
  const { pin } = campaign
  const { isMutable } = compileScope(spec)
  const differences = await compareTrees(context.repository, pin.tree, to.tree)
  const first = differences.find(({ path }) => !isMutable(path))
  return first ? [`${first.path} is outside scope.mutable and not as in the pinned commit ${pin.commit}`] : []
}

function buildExpectedMessage(
  step: IncumbentStep,
  merged: MergedEvent,
  verdict: LandedVerdict,
): LandingMessage {
  const { context, campaign } = step
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
    guard: campaign.experiments[merged.experiment]?.guard ?? null,
    unisolated: findUnisolatedWarning(event.warnings),
  }
}

function findTrailerGaps(found: string, expected: string, all = true): string[] {
  const [has, wants] = [parseTrailers(found), parseTrailers(expected)]
  return [...new Set([...(all ? wants.keys() : []), ...has.keys()])].flatMap(name => {
    const [said, value] = [has.get(name) ?? 'nothing', wants.get(name) ?? 'nothing']
    return said === value ? [] : [`its trailer ${name} says ${said}, the ledger ${value}`]
  })
}
