import { readEventsBySeq } from '../../ledger/read-events.ts'
import type { Campaign, DueLanding } from '../../model/campaign.ts'
import { computeEventId, type EventDraft } from '../../model/event.ts'
import { type Experiment, findSubject, isPicked } from '../../model/experiment.ts'
import type { ExperimentId, Oid, Point } from '../../model/ids.ts'
import { buildLandingMessage, getMergedTip, renderLandingMessage, toSeconds } from '../../model/landing.ts'
import { neutralizeMentions, toOneLine } from '../../model/text.ts'
import type { LandedStep, LandStep, MergeFacts, PlanStep } from '../../plan/action.ts'
import { ExperimentRecord } from '../../report/experiment.ts'
import {
  buildResults,
  buildResultsPath,
  type ExperimentEnding,
  renderResultsYaml,
} from '../../report/results.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { tryFetchCommit } from '../jobs/job-clone.ts'
import type { Transaction } from './transaction.ts'

export async function writeSteps(transaction: Transaction, steps: readonly PlanStep[]): Promise<void> {
  const { campaign } = transaction
  for (const step of steps) {
    transaction.context.faults.reach(`step:${step.step}`)
    await writeStep(transaction, campaign, step, steps)
  }
}

async function writeStep(
  transaction: Transaction,
  campaign: Campaign,
  step: PlanStep,
  all: readonly PlanStep[],
): Promise<void> {
  switch (step.step) {
    case 'event':
      await keepLeftHead(transaction, campaign, step.draft)
      if (step.draft.kind === 'order-issued') await keepOrdered(transaction, campaign, step.draft)
      transaction.addEvent(step.draft)
      if (step.draft.kind === 'measured') await keepMeasured(transaction, campaign, step.draft.order)
      return
    case 'open':
      transaction.addEvent(step.draft)
      if (step.draft.owned && step.draft.head !== null && step.draft.branch !== null)
        transaction.move(`refs/heads/${step.draft.branch}`, step.draft.head)
      return
    case 'close':
      return writeClosing(transaction, campaign, step, all)
    case 'rebuild-pick':
      await keepLeftHead(transaction, campaign, step.draft)
      transaction.addEvent(step.draft)
      return transaction.move(`refs/heads/${step.branch}`, step.draft.to)
    case 'land':
      return writeLanding(transaction, campaign, step)
    case 'move':
      for (const draft of step.events) transaction.addEvent(draft)
      if (step.from?.commit !== step.to.commit)
        transaction.move(transaction.context.refs.optimize, step.to.commit)
      return
    case 'landed':
      return recordLanded(transaction, campaign, step)
    case 'revert':
      return writeRevert(transaction, campaign, step)
    case 'keep':
      return transaction.keepReachable(step.heads)
    default:
      return step satisfies never
  }
}

/** Its branch moved away from this measured head, so only this transaction keeps the head (invariant 8). */
async function keepLeftHead(transaction: Transaction, campaign: Campaign, draft: EventDraft): Promise<void> {
  if (draft.kind !== 'head-moved' || draft.from === null) return
  if (findSubject(campaign, draft.experiment)?.measured_tree != null)
    await transaction.keepReachable([draft.from])
}

/** Jobs fetch only branches, so the head of a fork or a sync has to be reachable from one. */
async function keepOrdered(
  transaction: Transaction,
  campaign: Campaign,
  { candidates }: EventDraft<'order-issued'>,
): Promise<void> {
  const { repository, refs, forge } = transaction.context
  for (const { label, head } of candidates) {
    const kept = transaction.tip(refs.closed)
    const isForks = campaign.experiments[label]?.branch?.includes(':') === true
    if (label !== 'sync' && !isForks && forge?.workflows === undefined) continue
    if (kept === null || !(await repository.isAncestor(head, kept))) await transaction.keepReachable([head])
  }
}

/** A person may force-push their branch, so a measured head is kept from then on. */
async function keepMeasured(transaction: Transaction, campaign: Campaign, order: string): Promise<void> {
  for (const { label, head } of campaign.orders[order]?.order.candidates ?? []) {
    if (campaign.experiments[label]?.owned === false) await transaction.keepReachable([head])
  }
}

async function writeClosing(
  transaction: Transaction,
  campaign: Campaign,
  step: Extract<PlanStep, { step: 'close' }>,
  all: readonly PlanStep[],
): Promise<void> {
  const experiment = findSubject(campaign, step.experiment)
  if (!experiment) throw new Error(`${step.experiment} is to be closed, but was never opened`)
  const drafts = all.flatMap(other => (other.step === 'event' ? [other.draft] : []))
  const decided = drafts.find(draft => draft.kind === 'decided' && draft.experiment === step.experiment)
  const results = await writeResults(transaction, experiment, step)
  const { head } = experiment
  const kept = results ?? head
  // An unmeasured head that the remote no longer serves cannot be kept.
  const isThere = async (commit: Oid) =>
    experiment.measured_tree !== null || tryFetchCommit(transaction.context.repository, commit)
  if (kept !== null && step.keep && (await isThere(kept))) await transaction.keepReachable([kept])
  const cause = decided ? computeEventId(decided) : experiment.opened
  const { outcome, reason, pick_end } = step
  const closed = { experiment: experiment.id, outcome, reason, head, results }
  transaction.addEvent({ kind: 'closed', cause, ...closed, ...(pick_end === undefined ? {} : { pick_end }) })
}

/** A person's branch stays as they pushed it. A pick is for the default branch, which has no results.yaml. */
async function writeResults(
  transaction: Transaction,
  experiment: Experiment,
  { outcome, reason, keep }: ExperimentEnding & { keep: boolean },
): Promise<Oid | null> {
  const ending = { outcome, reason }
  const { head, branch, owned, measured_tree } = experiment
  const ref = `refs/heads/${branch ?? ''}`
  const isOurs = owned && branch !== null && head !== null && transaction.tip(ref) === head
  if (isPicked(experiment) || head === null || (!isOurs && (measured_tree === null || !keep))) {
    await addResultsView(transaction, { experiment, ending })
    return null
  }
  const results = await writeResultsCommit(transaction, { experiment, head, ending })
  if (isOurs) transaction.move(ref, results)
  return results
}

async function writeLanding(transaction: Transaction, campaign: Campaign, step: LandStep): Promise<void> {
  const { repository, refs } = transaction.context
  const { decided: draft, candidate, base, pull } = step
  if (step.recorded !== true) transaction.addEvent(draft)
  const due = requireDueExperiment(campaign, draft.experiment)
  const { outcome, reason } = draft
  const results = await writeResults(transaction, due.experiment, { outcome, reason, keep: true })
  const commit = await repository.writeCommit({
    tree: candidate.tree,
    parents: [base.commit, getMergedTip(due.experiment, { results, head: candidate.head })],
    message: renderLandingMessage(buildLandingMessage(campaign, due, pull)),
    date: toSeconds(due.decided.at),
  })
  transaction.move(refs.optimize, commit)
  await transaction.keepReachable([results ?? candidate.head, commit])
  recordMerge(transaction, due, step, { commit, results })
}

/** A person or GitHub made the merge commit: the branch of the experiment stays as it was merged. */
async function recordLanded(transaction: Transaction, campaign: Campaign, step: LandedStep): Promise<void> {
  const due = requireDueExperiment(campaign, step.experiment)
  const { commit, candidate, via } = step
  const { outcome, reason } = due.decided
  const { experiment } = due
  const ending = { outcome, reason }
  const results = await writeResultsCommit(transaction, { experiment, head: candidate.head, ending })
  await transaction.keepReachable([results, commit])
  recordMerge(transaction, due, step, { commit, results, via })
}

interface DueExperiment extends DueLanding {
  experiment: Experiment
}

function requireDueExperiment({ landing, experiments }: Campaign, id: ExperimentId): DueExperiment {
  const experiment = experiments[id]
  if (!experiment || landing?.decided.experiment !== id)
    throw new Error(`${id} is to land, but has no verdict`)
  return { ...landing, experiment }
}

function recordMerge(
  transaction: Transaction,
  { decided, sha256, experiment }: DueExperiment,
  { candidate: { head, tree }, base, pull, undoes, baseline }: MergeFacts,
  merge: Pick<EventDraft<'merged'>, 'commit' | 'results' | 'via'>,
): void {
  const { id: cause, seq, order } = decided
  const to = { commit: merge.commit, tree }
  // Add the baseline before the merge removes its order, so that an audit can compute it again.
  if (baseline) transaction.addEvent(baseline)
  const merged = { experiment: experiment.id, tree, base, head, pull, decided: { seq, sha256 }, ...merge }
  transaction.addEvent({ kind: 'merged', cause, ...merged })
  transaction.addEvent({ kind: 'incumbent-moved', cause, from: base, to, why: 'merged' })
  if (undoes !== null && order !== null) {
    const undone = { experiment: undoes, by_experiment: experiment.id, from: base, to, measured_in: order }
    transaction.addEvent({ kind: 'reverted', cause, ...undone })
  }
}

async function writeRevert(
  transaction: Transaction,
  campaign: Campaign,
  step: Extract<PlanStep, { step: 'revert' }>,
): Promise<void> {
  const { repository, refs, name } = transaction.context
  const { experiment, tree, from, measuredIn, cause } = step
  const hypothesis = neutralizeMentions(
    toOneLine(campaign.experiments[experiment]?.hypothesis ?? experiment, 100),
  )
  const commit = await repository.writeCommit({
    tree,
    parents: [from.commit],
    message: `optimize(${name}): revert ${experiment}\n\nReverts: ${hypothesis}\n`,
    date: toSeconds(transaction.at),
  })
  const to: Point = { commit, tree }
  transaction.move(refs.optimize, commit)
  await transaction.keepReachable([commit])
  const reverted = { experiment, by_experiment: null, from, to, measured_in: measuredIn }
  transaction.addEvent({ kind: 'reverted', cause, ...reverted })
  transaction.addEvent({ kind: 'incumbent-moved', cause, from, to, why: 'reverted' })
}

async function writeResultsCommit(
  transaction: Transaction,
  { experiment, head, ending }: { experiment: Experiment; head: Oid; ending: ExperimentEnding },
): Promise<Oid> {
  const { context, at } = transaction
  const { repository, name } = context
  const { id } = experiment
  const text = await addResultsView(transaction, { experiment, ending })
  const entry = { mode: '100644', oid: await repository.writeBlob(text) } as const
  const tree = await repository.replaceEntries((await repository.commit(head)).tree, [
    { path: buildResultsPath(name, id), entry },
  ])
  const message = `results(${name}): ${id} ${ending.outcome}\n`
  return repository.writeCommit({ tree, parents: [head], message, date: toSeconds(at) })
}

/** Adds the results to the ledger's files, and returns their text. */
async function addResultsView(
  transaction: Transaction,
  { experiment, ending }: { experiment: Experiment; ending: ExperimentEnding },
): Promise<string> {
  const { context } = transaction
  const record = await readExperimentRecord(transaction, experiment)
  const diff = await readChangedPaths(context, record)
  const text = renderResultsYaml(buildResults({ spec: context.name, experiment, record, ending, diff }))
  transaction.addView(`results/${experiment.id}.yaml`, text)
  return text
}

/** Reads only the events of this experiment (`result_events`), so the cost does not grow with the ledger. */
async function readExperimentRecord(
  { context, base, events }: Transaction,
  { id, result_events }: Experiment,
): Promise<ExperimentRecord> {
  const record = new ExperimentRecord(id)
  const first = events[0]?.seq ?? Infinity
  if (base !== null)
    for await (const event of readEventsBySeq(
      context.repository,
      base,
      result_events.filter(seq => seq < first),
    ))
      record.take(event)
  for (const event of events) record.take(event)
  return record
}

/** Summarises the diff from base tree to measured tree; null where this clone lacks one of them. */
export async function readChangedPaths(
  { repository }: Pick<CampaignContext, 'repository'>,
  { id, decisive }: ExperimentRecord,
) {
  const order = decisive.at(-1)?.order
  const tree = order?.candidates.find(({ label }) => label === id)?.tree
  if (order === undefined || tree === undefined) return null
  for (const each of [order.base.tree, tree]) if (!(await repository.has(each))) return null
  return repository.diff(order.base.tree, tree)
}
