import { assessCandidate } from '../../decide/assess.ts'
import { UserError } from '../../errors.ts'
import type { MergeResult } from '../../git/history.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { LedgerEvent } from '../../model/event.ts'
import { isSamePoint, type Oid, type OrderId } from '../../model/ids.ts'
import { isForeignPassing } from '../../plan/branch-changes.ts'
import type { Spec } from '../../spec/schema.ts'
import { findForeignRefusal } from '../observe/candidate-facts.ts'
import { computeTreeHarness, findContainedLandings, isUnread } from '../observe/sync.ts'
import { findMeasurement, type MissingEvidence, type OrderMeasurement } from './evidence.ts'
import { findLandingGaps, findPinGaps, type IncumbentStep } from './landing.ts'
import { listAbsentCommits } from './orders.ts'

/** Invariant 1: returns what a proof of this commit lacks; an empty list when it is proven. */
export async function findStepGaps(
  base: Omit<IncumbentStep, 'from' | 'to'>,
  event: LedgerEvent<'incumbent-moved'>,
): Promise<string[]> {
  const { place: context, campaign, evidence } = base
  const { from, to, why } = event
  if (!isSamePoint(from, campaign.incumbent))
    return [`event ${event.seq} starts at ${from.commit}, the incumbent was ${campaign.incumbent.commit}`]
  const absent = await listAbsentCommits(context, [from.commit, to.commit])
  if (absent.length > 0) return absent
  const { tree } = await context.repository.commit(to.commit)
  if (tree !== to.tree) return [`its tree is ${tree}, event ${event.seq} records ${to.tree}`]
  const incumbentEvent = evidence.incumbentEvents.get(to.commit)
  const step = { ...base, from, to }
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
  const absent = await listAbsentCommits(step.place, [synced.default_tip])
  if (absent.length > 0) return absent
  const commit = await findSyncCommitGaps(step, synced)
  return commit.length > 0 ? commit : findSyncMeasurementGaps(step, synced)
}

async function findSyncCommitGaps(
  { place: context, campaign, from, to }: IncumbentStep,
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
  const merged = await mergeOrConflict(repository.mergeTree(from.commit, tip))
  if (!merged.clean) return [`${tip} does not merge with the incumbent ${from.commit}`]
  return merged.tree === to.tree ? [] : [`merging ${tip} makes tree ${merged.tree}, not ${to.tree}`]
}

async function mergeOrConflict(merge: Promise<MergeResult>): Promise<MergeResult> {
  try {
    return await merge
  } catch (error) {
    if (error instanceof UserError) return { clean: false, conflicts: [] }
    throw error
  }
}

async function findSyncMeasurementGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { campaign, spec } = step
  const { order: orderId, seq } = synced
  if (orderId === null) return findUnreadGaps(step, synced)
  const measured = findStepMeasurement(step, { order: orderId, seq }, 'sync')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  if (spec === null) return ['the spec in force cannot be read']
  if (order.harness !== campaign.harness || order.spec_sha256 !== campaign.spec_sha256)
    return [`${name} was measured with another spec or harness than the one in force since`]
  const rulerGaps = await findSyncRulerGaps(step, synced, spec)
  if (rulerGaps.length > 0) return rulerGaps
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'sync', baseline: null })
  return outcome === 'eligible' ? [] : [`judged again, ${name} says ${outcome}: ${reason}`]
}

async function findUnreadGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { place: context, spec, evidence, from, to } = step
  if (evidence.harnessChanges.has(to.commit)) return ['it was not measured, and changes the harness']
  if (spec === null) return ['the spec in force cannot be read']
  const rulerGaps = await findSyncRulerGaps(step, synced, spec)
  if (rulerGaps.length > 0) return rulerGaps
  return (await isUnread(context.repository, spec, { from: from.tree, to: to.tree }))
    ? []
    : ['it was not measured, and the harness, a gate or setup may read the files that it changes']
}

async function findSyncRulerGaps(
  { place: context, campaign, to }: IncumbentStep,
  synced: SyncedEvent,
  spec: Spec,
): Promise<string[]> {
  const harness = await computeTreeHarness(context.repository, spec, to.tree)
  if (harness !== synced.harness)
    return [`its harness is ${harness.slice(0, 12)}, event ${synced.seq} says ${synced.harness.slice(0, 12)}`]
  const { tree } = await context.repository.commit(synced.default_tip)
  const entry = await context.repository.findEntry(tree, campaign.spec_path)
  if (entry?.type !== 'blob') return [`${campaign.spec_path} is not in ${synced.default_tip}`]
  const found = hashSha256((await context.repository.blob(entry.oid)).toString('utf8'))
  if (found === campaign.default_spec_sha256) return []
  return [`the spec of ${synced.default_tip} is ${found.slice(0, 12)}, which no event put in force`]
}

/** A commit that another person pushed. A valid adopting event covers all commits up to it. */
async function findForeignGaps(step: IncumbentStep, adopted: LedgerEvent<'foreign-tip'>): Promise<string[]> {
  const { place: context, spec, from, to } = step
  if (!isSamePoint(adopted.from, from) || !isSamePoint(adopted.to, to))
    return [`event ${adopted.seq} adopts ${adopted.to.commit} from ${adopted.from.commit}, not this step`]
  if (spec === null) return ['the spec in force cannot be read']
  const measured = findForeignMeasurementGaps(step, adopted, spec)
  if (measured.length > 0) return measured
  const refusal = await findForeignRefusal(context.repository, spec, { from: from.tree, to: to.tree })
  return refusal ? [`its change is not allowed: ${refusal.message}`] : findPinGaps(step)
}

function findForeignMeasurementGaps(
  step: IncumbentStep,
  { order: id, seq }: LedgerEvent<'foreign-tip'>,
  spec: Spec,
): string[] {
  if (id === null) return [`event ${seq} adopts it without an order that measured it`]
  const measured = findStepMeasurement(step, { order: id, seq }, 'foreign')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const assessment = assessCandidate({ spec, order, report, label: 'foreign', baseline })
  if (isForeignPassing(assessment)) return []
  return [`judged again, ${name} says ${assessment.outcome}: ${assessment.reason}`]
}

type RevertedEvent = LedgerEvent<'reverted'>

/** A direct revert: the tree without the landing was measured before and passed its checks. */
async function findRevertGaps(step: IncumbentStep, reverted: RevertedEvent): Promise<string[]> {
  const { place: context, campaign, spec, evidence, from, to } = step
  const { parents } = await context.repository.commit(to.commit)
  if (parents.length !== 1 || parents[0] !== from.commit)
    return [`its parents are ${parents.join(', ') || 'none'}, not the incumbent ${from.commit} alone`]
  const measured = findMeasurement(evidence, { order: reverted.measured_in, seq: reverted.seq })
  if ('gaps' in measured) return measured.gaps
  const { name, order } = measured
  if (order.harness !== campaign.harness) return [`${name} was measured with a harness no longer in force`]
  if (spec === null) return ['the spec in force cannot be read']
  const failed = explainUnmeasuredTree(measured, to.tree, spec)
  return failed === null ? findPinGaps(step) : [`${name} ${failed}`]
}

/** The base of an order in force is an incumbent with its own proof; a candidate must have passed. */
function explainUnmeasuredTree({ order, report }: OrderMeasurement, tree: Oid, spec: Spec): string | null {
  if (order.base.tree === tree) return null
  const candidate = order.candidates.find(entry => entry.tree === tree)
  if (!candidate || report.trees[candidate.label] !== tree) return `did not measure tree ${tree}`
  const baseline = order.stop.rule === 'stability' ? order.stop.baseline : null
  const { outcome, retry, reason } = assessCandidate({
    spec,
    order,
    report,
    label: candidate.label,
    baseline,
  })
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
