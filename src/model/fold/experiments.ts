import type { Campaign, EventHandler } from '../campaign.ts'
import { hashSha256, toCanonicalJson } from '../canonical-json.ts'
import type { LedgerEvent } from '../event.ts'
import {
  addExperiment,
  buildPickKey,
  buildRestoreKey,
  type Experiment,
  findOpenSubject,
  findSubject,
  isPicked,
} from '../experiment.ts'
import { describeGuard } from '../harness-guard.ts'
import { type ExperimentId, type OrderId, parseExperimentNumber } from '../ids.ts'
import { isSingleMachineOrder } from '../order.ts'
import { findUnisolatedWarning } from '../reach.ts'
import { isLanded, type Outcome, toVerdictWord, type VerdictWord } from '../verdict.ts'
import { addKeptStep } from './counters.ts'
import { clearLanding, dropOrders } from './orders.ts'
import {
  markIdeaTried,
  recordFailedIdea,
  recordKeptIdea,
  recordRefusedIdea,
  recordSource,
} from './proposers.ts'

const applyExperimentOpened: EventHandler<'experiment-opened'> = (campaign, event) => {
  const { experiment: id, picks } = event
  const created = createExperiment(event)
  if (event.purpose === 'pick' && picks !== undefined) addPick(campaign, event, { ...created, picks })
  else addExperiment(campaign, created)
  markIdeaTried(campaign, event)
  recordSource(campaign, event.source.key, id)
  campaign.restores = campaign.restores.filter(each => event.source.key !== buildRestoreKey(each))
  campaign.next_number = Math.max(campaign.next_number, created.number + 1)
}

/** A pick inherits the approvals for the same packages, and takes no share of the error budget. */
function addPick(
  campaign: Campaign,
  { experiment: id, base, source }: LedgerEvent<'experiment-opened'>,
  created: Experiment & { picks: ExperimentId },
): void {
  const { approval = null, approved = {}, consents = [] } = campaign.experiments[created.picks] ?? {}
  campaign.picks[id] = {
    ...created,
    approval,
    approved: { ...approved },
    consents: [...consents],
    alpha_share: 0,
    variant: 0,
    base: base.commit,
    pick_end: null,
  }
  campaign.steered = campaign.steered.filter(({ event }) => source.key !== buildPickKey(event))
}

function createExperiment(event: LedgerEvent<'experiment-opened'>): Experiment {
  return {
    id: event.experiment,
    number: parseExperimentNumber(event.experiment),
    opened: event.id,
    opened_at: event.at,
    purpose: event.purpose,
    hypothesis: event.hypothesis,
    category: event.category,
    priority: event.priority,
    required_deps: event.required_deps,
    approval: null,
    approved: {},
    family: event.family,
    source: event.source,
    branch: event.branch,
    owned: event.owned,
    pull: event.pull,
    head: event.head,
    status: 'queued',
    asked_at: null,
    consents: [],
    needs_permission: null,
    held: null,
    allowed_head: null,
    awaits_sync: null,
    round: null,
    order: null,
    standalone: null,
    holdout: null,
    attempts: 0,
    interrupted: 0,
    interruption: null,
    learnings: event.learnings,
    carries: event.carries ?? null,
    answer_tree: event.answer_tree ?? null,
    outcome: null,
    verdict: null,
    reason: null,
    refused_path: null,
    refused_line: null,
    result_events: [],
    closed: false,
    measured_tree: null,
    failed: null,
    measured_in: null,
    metrics: {},
    base_metrics: {},
    tests: {},
    base_tests: {},
    tasks: null,
    primary_delta: null,
    evidence: null,
    single_machine: false,
    guard: null,
    unisolated: null,
    alpha_share: null,
    variant: null,
    touched: null,
    resumed: 0,
    given_up: null,
    give_up: 'early',
    counted: false,
  }
}

function endExperiment(
  campaign: Campaign,
  experiment: Experiment,
  ending: { outcome: Outcome; verdict: VerdictWord; reason: string },
): void {
  if (experiment.status === 'ended') return
  dropOrders(campaign, experiment)
  experiment.status = 'ended'
  experiment.evidence = null
  experiment.interruption = null
  experiment.outcome = ending.outcome
  experiment.verdict = ending.verdict
  experiment.reason = ending.reason
  if (isPicked(experiment)) return
  if (ending.outcome === 'refused' || ending.outcome === 'withdrawn') return
  if (isLanded(ending.outcome)) recordKeptIdea(campaign, experiment)
  else recordFailedIdea(campaign, experiment)
  countEnded(campaign, experiment)
  if (ending.outcome === 'error' || ending.outcome === 'timeout') campaign.failures += 1
}

/** An idea that was given up counts towards plateau and max_iterations at once, so that every campaign ends. */
function countEnded(campaign: Campaign, experiment: Experiment): void {
  if (experiment.counted) return
  experiment.counted = true
  campaign.ended += 1
  campaign.since_incumbent += 1
}

const applyExperimentRefused: EventHandler<'experiment-refused'> = (campaign, event) => {
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return
  recordRefusedIdea(campaign, experiment)
  experiment.refused_path = event.path ?? null
  experiment.refused_line = event.line ?? null
  endExperiment(campaign, experiment, {
    outcome: 'refused',
    verdict: toVerdictWord('refused', false),
    reason: event.message,
  })
}

/**
 * Outcomes that prove a tree on its own base. `runner_up_dropped` is missing because its last measurement failed on
 * another base.
 */
const PASSED_OUTCOMES: readonly Outcome[] = ['kept', 'runner_up_kept', 'revert_landed', 'not_selected']

function recordProof(campaign: Campaign, { id }: Experiment, order: OrderId | null): void {
  const measured = campaign.orders[order ?? '']?.order
  const tree = measured?.candidates.find(({ label }) => label === id)?.tree
  if (measured && tree !== undefined) campaign.proven[tree] = measured.id
}

const applyDecided: EventHandler<'decided'> = (campaign, event) => {
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return
  const { round } = campaign
  clearLanding(campaign, experiment)
  experiment.primary_delta = event.primary_delta
  const measured = campaign.orders[event.order ?? '']?.order
  if (measured !== undefined) experiment.guard = describeGuard(campaign)
  experiment.unisolated = findUnisolatedWarning(event.warnings)
  experiment.single_machine = measured !== undefined && isSingleMachineOrder(measured)
  if (PASSED_OUTCOMES.includes(event.outcome) && !isPicked(experiment))
    for (const id of [experiment.order, experiment.standalone]) recordProof(campaign, experiment, id)
  if (round?.open && round.number === experiment.round) {
    if (event.outcome === 'kept' || event.outcome === 'revert_landed') round.winner = experiment.id
    if (round.combined.includes(experiment.id) && event.outcome !== 'runner_up_kept')
      round.combination_failed = true
  }
  if (event.stays_open) return markNotProven(campaign, experiment, event)
  if (isLanded(event.outcome) && !isPicked(experiment)) return awaitMerge(campaign, experiment, event)
  endExperiment(campaign, experiment, event)
  experiment.order = event.order
}

/**
 * The experiment ends with its merge, which a person may have to make. Until then the campaign keeps the data of the
 * decision.
 */
function awaitMerge(campaign: Campaign, experiment: Experiment, event: LedgerEvent<'decided'>): void {
  if (experiment.status === 'ended') return
  const { outcome, verdict, reason } = event
  Object.assign(experiment, { status: 'landing', outcome, verdict, reason, order: event.order })
  const file = hashSha256(`${toCanonicalJson(event)}\n`)
  campaign.landing = { decided: event, sha256: file, spec_sha256: campaign.spec_sha256 }
}

/** Not proven and out of jobs: its pull request stays open, its pairs are kept, and it may be resumed. */
function markNotProven(campaign: Campaign, experiment: Experiment, event: LedgerEvent<'decided'>): void {
  dropOrders(campaign, experiment)
  leaveRound(campaign, experiment)
  experiment.status = 'not-proven'
  experiment.attempts = 0
  experiment.verdict = event.verdict
  experiment.reason = event.reason
  experiment.given_up = event.given_up
  if (event.given_up !== null && !isPicked(experiment)) countEnded(campaign, experiment)
}

const applyMerged: EventHandler<'merged'> = (campaign, event) => {
  const experiment = campaign.experiments[event.experiment]
  if (!experiment) return
  const { order, outcome, verdict, reason } = experiment
  campaign.landing = null
  if (outcome !== null && verdict !== null)
    endExperiment(campaign, experiment, { outcome, verdict, reason: reason ?? '' })
  experiment.order = order
  experiment.closed = true
  experiment.result_events = []
  experiment.pull ??= event.pull
  const { experiment: id, commit, tree, head, base } = event
  const { purpose, primary_delta } = experiment
  if (purpose === 'simplify') campaign.simplified += Math.max(0, -(primary_delta ?? 0))
  const proof = { order, pin: campaign.pin.commit, reverted: null }
  const watch = { state: 'open' as const, jobs: [], at: event.at }
  const facts = { effect: null, upstream: false, watch, spec_seq: campaign.set_by.spec }
  campaign.landings.push({ experiment: id, commit, tree, head, base, ...proof, ...facts })
  addKeptStep(campaign, experiment, { from: base.tree, to: tree })
  if (order !== null) campaign.proven[base.tree] ??= order
}

const applyClosed: EventHandler<'closed'> = (campaign, event) => {
  const experiment = findSubject(campaign, event.experiment)
  if (!experiment) return
  clearLanding(campaign, experiment)
  endExperiment(campaign, experiment, {
    outcome: event.outcome,
    verdict: toVerdictWord(event.outcome, false),
    reason: event.reason,
  })
  experiment.closed = true
  experiment.result_events = []
  if (isPicked(experiment)) experiment.pick_end = event.pick_end ?? null
  campaign.steered = campaign.steered.filter(
    request => request.experiment !== event.experiment || request.action === 'revert',
  )
}

/** `stale-head`: measurements and verdict belong to the old commit, so the experiment queues again without them. */
const applyHeadMoved: EventHandler<'head-moved'> = (campaign, event) => {
  const experiment = findOpenSubject(campaign, event.experiment)
  if (!experiment) return
  experiment.head = event.to
  experiment.interrupted = 0
  experiment.verdict = null
  experiment.reason = null
  // Only winnow moves a pick's branch. A push by a person takes the pick over.
  if (isPicked(experiment)) experiment.base = campaign.default_tip
  else experiment.owned = false
  queueExperiment(campaign, experiment)
}

const applyRequeued: EventHandler<'requeued'> = (campaign, event) => {
  const experiment = campaign.experiments[event.experiment]
  if (!experiment || experiment.status === 'ended') return
  queueExperiment(campaign, experiment)
  experiment.reason = event.reason
  const { why, findings = [] } = event
  if (why === 'held' && experiment.head !== null) experiment.held = { head: experiment.head, findings }
}

/** Drops its orders and a decision that is not merged, and queues it again. */
export function queueExperiment(campaign: Campaign, experiment: Experiment): void {
  clearLanding(campaign, experiment)
  dropOrders(campaign, experiment)
  experiment.attempts = 0
  leaveRound(campaign, experiment)
  if (experiment.status !== 'deferred') experiment.status = 'queued'
}

function leaveRound(campaign: Campaign, experiment: Experiment): void {
  if (campaign.round && campaign.round.number === experiment.round) {
    campaign.round.members = campaign.round.members.filter(id => id !== experiment.id)
  }
  experiment.round = null
}

export const experimentHandlers = {
  'experiment-opened': applyExperimentOpened,
  'experiment-refused': applyExperimentRefused,
  decided: applyDecided,
  merged: applyMerged,
  closed: applyClosed,
  'head-moved': applyHeadMoved,
  requeued: applyRequeued,
}
