import { countFruitlessRun, DISPATCH_REFUSED, dropAlerts, endFruitlessRuns } from '../alerts.ts'
import { buildHoldoutKey, type Campaign, type EventHandler, type LiveOrder } from '../campaign.ts'
import type { EventAuthor } from '../event.ts'
import { type Experiment, findSubject, isPicked, listSubjects } from '../experiment.ts'
import type { Oid, OrderId, Point } from '../ids.ts'
import {
  buildOrderSubject,
  getFirstBlock,
  type HoldoutRule,
  isPairRule,
  isReportingPurpose,
  type Order,
  toPairRequest,
} from '../order.ts'
import {
  aggregateReadings,
  buildPairJob,
  type Interruption,
  listTaskReadings,
  type PairJob,
  type PartialReport,
  selectReportedJobs,
  toMeasuredRun,
} from '../pairs.ts'
import {
  aggregateMetrics,
  aggregateSnapshot,
  findFailedPart,
  listTaskRuns,
  type Report,
  type TestCounts,
} from '../report.ts'
import { describeUnisolated } from '../reach.ts'
import { compareTasks, summarizeTasks, type TaskChange } from '../tasks.ts'
import { countMeasured, countMeasuringRun, countMinutes } from './counters.ts'
import { recordMeasuredIdea } from './proposers.ts'

const applyOrderIssued: EventHandler<'order-issued'> = (campaign, event) => {
  const { seq: _seq, id, kind: _kind, at, by: _by, cause: _cause, prev: _prev, ...terms } = event
  const order: Order = { id, ...terms }
  campaign.orders[id] = {
    order,
    issued_at: at,
    run_id: null,
    printed: null,
    report: null,
    scores: null,
  }
  if (order.purpose === 'foreign' && campaign.foreign) campaign.foreign.order = id
  if (order.purpose === 'sync') campaign.sync_ordered = { at, pin: order.pin.commit }
  const members = listOrderMembers(campaign, order)
  if (order.stop.rule === 'holdout') return countHoldoutUse(campaign, members, order, order.stop)
  for (const experiment of members) applyMemberOrder(campaign, experiment, order)
  if (members.length === 0) replaceCampaignOrder(campaign, order)
}

/** Counts the use when it is ordered: a lost report could still have been seen. */
function countHoldoutUse(campaign: Campaign, members: Experiment[], { id }: Order, stop: HoldoutRule): void {
  const key = buildHoldoutKey(stop)
  campaign.holdout_uses[key] = (campaign.holdout_uses[key] ?? 0) + 1
  for (const experiment of members) {
    const previous = experiment.holdout
    experiment.holdout = id
    releaseOrders(campaign, [previous])
  }
}

/** Keeps only the newest campaign order of each subject. */
function replaceCampaignOrder(campaign: Campaign, order: Order): void {
  campaign.attempts[buildOrderSubject(order)] = order.attempt
  for (const [id, live] of Object.entries(campaign.orders))
    if (id !== order.id && isOrderReplaced(live, order)) delete campaign.orders[id]
}

/** Orders for effects run in parallel, and so do the jobs of one progression test. */
function isOrderReplaced({ order: earlier, report }: LiveOrder, order: Order): boolean {
  if (earlier.purpose !== order.purpose) return false
  if (!isReportingPurpose(order.purpose) || buildOrderSubject(earlier) === buildOrderSubject(order))
    return true
  // The report is already read before a further order of this purpose is issued.
  if (report !== null || order.purpose !== 'progression') return report !== null
  return (
    earlier.base.commit !== order.base.commit || earlier.candidates[0]?.head !== order.candidates[0]?.head
  )
}

function applyMemberOrder(campaign: Campaign, experiment: Experiment, order: Order): void {
  const previous = experiment.order
  const standalone = order.purpose === 'combination' ? experiment.standalone : null
  const released = [previous, experiment.standalone, experiment.holdout].filter(id => id !== standalone)
  experiment.standalone = standalone
  experiment.holdout = null
  experiment.status = 'ordered'
  experiment.awaits_sync = null
  experiment.order = order.id
  releaseOrders(campaign, released)
  carryEvidence(campaign, experiment, order)
  experiment.attempts = order.attempt
  experiment.interruption = null
  if (!isPicked(experiment)) joinRound(campaign, experiment, order)
}

function releaseOrders(campaign: Campaign, ids: readonly (OrderId | null)[]): void {
  for (const id of ids) {
    const live = campaign.orders[id ?? '']
    if (id === null || live === undefined) continue
    const isUsed = listOrderMembers(campaign, live.order).some(
      ({ status, order, standalone, holdout }) =>
        status !== 'ended' && [order, standalone, holdout].includes(id),
    )
    if (!isUsed) delete campaign.orders[id]
  }
}

/** The order's evidence becomes the experiment's. Its share of the error budget is taken only once. */
function carryEvidence(campaign: Campaign, experiment: Experiment, order: Order): void {
  const { stop, base, harness, earlier_jobs } = order
  const candidate = order.candidates.find(({ label }) => label === experiment.id)
  const terms = stop.rule === 'paired' ? stop.terms[experiment.id] : undefined
  if (!candidate || !terms) return
  const jobs = earlier_jobs[experiment.id] ?? []
  const { as, alpha, alpha_share, max_jobs, give_up } = terms
  const trees = { head: candidate.head, base: base.tree, tree: candidate.tree, harness }
  experiment.evidence = { as, alpha, alpha_share, max_jobs, give_up, ...trees, jobs }
  if (experiment.alpha_share !== null) return
  experiment.alpha_share = alpha_share
  experiment.variant = terms.variant
  experiment.touched = terms.touched
  // A pick lands nothing, so it takes no test from the campaign's error budget.
  if (isPicked(experiment)) return
  campaign.error_budget.alpha_spent += alpha_share
  campaign.error_budget.tests += 1
}

function joinRound(campaign: Campaign, experiment: Experiment, order: Order): void {
  if (campaign.round === null || campaign.round.number < order.round) {
    campaign.round = {
      number: order.round,
      members: [],
      winner: null,
      combined: [],
      combination_failed: false,
      open: true,
    }
  }
  const { round } = campaign
  experiment.round = round.number
  if (!round.members.includes(experiment.id)) round.members.push(experiment.id)
  if (order.purpose === 'combination' && !round.combined.includes(experiment.id))
    round.combined.push(experiment.id)
}

function listOrderMembers(campaign: Campaign, order: Order): Experiment[] {
  return order.candidates.flatMap(({ label }) => findSubject(campaign, label) ?? [])
}

const applyOrderDispatched: EventHandler<'order-dispatched'> = (campaign, event) => {
  const live = campaign.orders[event.order]
  if (live) live.run_id = event.run_id
  countMeasuringRun(campaign, event.run_id)
  // A remote machine has started, so dispatching works again.
  dropAlerts(campaign, [DISPATCH_REFUSED])
}

/** Counts are kept by tree, because the gates of a base ran when it became the incumbent. */
function recordTests({ tests }: Campaign, { gates, trees }: Report): void {
  for (const { side, name, tests_passed: passed } of gates) {
    const tree = trees[side]
    if (passed !== undefined && tree !== undefined) tests[tree] = { ...tests[tree], [name]: passed }
  }
}

function getTestCounts({ tests, measured_as }: Campaign, tree: Oid): TestCounts {
  return { ...(tests[tree] ?? tests[measured_as[tree] ?? tree]) }
}

const applyOrderPrinted: EventHandler<'order-printed'> = (campaign, { order, run_id, digest }) => {
  const live = campaign.orders[order]
  if (live) live.printed = { run_id, digest }
}

/** Only the first report of an order counts. A second one, or one after `order-lost`, changes nothing. */
const applyMeasured: EventHandler<'measured'> = (campaign, event) => {
  const live = campaign.orders[event.order]
  if (!live || live.report) return
  const { report, run_id } = event
  const { order } = live
  live.report = { event: event.id, at: event.at, report }
  live.scores = null
  endFruitlessRuns(campaign, 'fruitless_measuring')
  countMachine(campaign, report)
  if (report.executions.some(({ status }) => status === 'ok')) {
    campaign.isolated[report.harness] ??= !report.flags.includes('unisolated')
    campaign.unisolated = describeUnisolated(report)
  }
  if (order.purpose !== 'probe') recordTests(campaign, report)
  countMeasured(campaign, event.by, report)
  campaign.spent.executions += report.executions.length
  campaign.waited_seconds += report.waited_seconds ?? 0
  if (order.purpose === 'progression') addProgressJob(campaign, order, report)
  delete campaign.interruptions[buildOrderSubject(order)]
  for (const { label, tree } of order.candidates) {
    const experiment = findSubject(campaign, label)
    if (!experiment || experiment.order !== order.id) continue
    experiment.status = 'measured'
    experiment.measured_tree = tree
    experiment.failed = findFailedPart(report, label)
    experiment.metrics = aggregateMetrics(report, label, campaign.aggregation)
    experiment.base_metrics = getBaseMetrics(campaign, order, report)
    experiment.tests = getTestCounts(campaign, tree)
    experiment.base_tests = getTestCounts(campaign, order.base.tree)
    recordMeasuredIdea(campaign, experiment)
    if (report.runner_error === null && !isPicked(experiment)) campaign.trees[tree] ??= experiment.id
    if (order.purpose !== 'combination') experiment.standalone = order.id
    addPairs(experiment, order, report)
    experiment.measured_in = { run: run_id, ...countMeasuredPairs(experiment) }
    if (order.stop.rule === 'paired') updateMetrics(campaign, experiment)
    experiment.tasks = summarizeTasks(compareMeasuredTasks(campaign, order, report, experiment))
  }
}

/** Orders without pairs ran on one machine. */
function countMeasuredPairs({ evidence }: Experiment): { pairs: number; machines: number } {
  const jobs = selectReportedJobs(evidence?.jobs ?? [])
  const pairs = jobs.flatMap(job => job.pairs).filter(({ base }) => base !== null).length
  const machines = new Set(jobs.flatMap(({ runner, also_on = [] }) => [runner, ...also_on])).size
  return { pairs, machines: Math.max(1, machines) }
}

/** Shows both sides as measured by all deciding jobs, not only by the last one. */
function updateMetrics({ aggregation }: Campaign, experiment: Experiment): void {
  const jobs = experiment.evidence?.jobs ?? []
  Object.assign(experiment.metrics, aggregateReadings(jobs, 'candidate', aggregation))
  Object.assign(experiment.base_metrics, aggregateReadings(jobs, 'base', aggregation))
}

/** All jobs of pairs, or the runs of this report against those of the base or its stored scores. */
function compareMeasuredTasks(
  { direction }: Campaign,
  { stop }: Order,
  report: Report,
  { id, evidence }: Experiment,
): TaskChange[] {
  const primary = stop.rule === 'paired' && stop.by_task === true ? stop.metrics[0] : undefined
  if (primary !== undefined) {
    const jobs = evidence?.jobs ?? []
    const [base, own] = [
      listTaskReadings(jobs, 'base', primary),
      listTaskReadings(jobs, 'candidate', primary),
    ]
    return compareTasks(base, own, direction)
  }
  const stored = stop.rule === 'stability' ? stop.baseline?.tasks : undefined
  const base = stored === undefined ? listTaskRuns(report, 'base') : [{ tasks: stored }]
  return compareTasks(base, listTaskRuns(report, id), direction)
}

/** Returns the values that the candidate was compared with: a stored score when the rule has one. */
function getBaseMetrics(
  { aggregation }: Campaign,
  { stop }: Order,
  report: Report,
): Experiment['base_metrics'] {
  const stored = stop.rule === 'stability' ? stop.baseline : null
  return stored === null ? aggregateMetrics(report, 'base', aggregation) : aggregateSnapshot(stored)
}

function countMachine(campaign: Campaign, { machine: { boot_id } }: Report): void {
  const { machine } = campaign
  const in_a_row = machine.boot_id === boot_id ? machine.in_a_row + 1 : 1
  campaign.machine = { boot_id, in_a_row, reports: machine.reports + 1 }
}

/** Adds every measured pair, whatever else failed: leaving out seen pairs would bias the evidence. */
function addPairs({ id, evidence }: Experiment, order: Order, report: Report): void {
  if (evidence === null || order.stop.rule !== 'paired') return
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), id)
  if (job.pairs.length > 0) evidence.jobs = [...evidence.jobs, job]
}

/** A job counts completely or not at all: the number of jobs was fixed in advance. */
function addProgressJob(campaign: Campaign, order: Order, report: Report): void {
  const { base: from, harness } = order
  const [candidate] = order.candidates
  if (!candidate || report.runner_error !== null || report.tampered !== null) return
  const job = buildPairJob(toPairRequest(order), toMeasuredRun(report), candidate.label)
  if (!job.complete) return
  const to = { commit: candidate.head, tree: candidate.tree }
  const jobs = getProgressJobs(campaign, { from, to })
  const parts = jobs.length === 0 ? [] : (campaign.progressing?.parts ?? [])
  const part = order.part ?? jobs.length
  if (parts.includes(part)) return
  campaign.progressing = { from, to, harness, jobs: [...jobs, job], parts: [...parts, part] }
}

export function getProgressJobs(
  { progressing, harness }: Pick<Campaign, 'progressing' | 'harness'>,
  { from, to }: { from: Point; to: Point },
): PairJob[] {
  const same = progressing?.from.commit === from.commit && progressing.to.commit === to.commit
  return progressing && same && progressing.harness === harness ? progressing.jobs : []
}

const applyOrderLost: EventHandler<'order-lost'> = (campaign, event) => {
  const live = campaign.orders[event.order]
  if (live && !live.report) forgetOrder(campaign, live, event)
}

const applyReportRejected: EventHandler<'report-rejected'> = (campaign, event) => {
  const live = campaign.orders[event.order]
  if (live && !live.report) forgetOrder(campaign, live, { at: event.at, by: event.by, started: true })
}

interface OrderLoss {
  at: string
  by: EventAuthor
  started: boolean
  partial?: PartialReport | undefined
}

/** A loss is not an attempt: measured pairs stay, and the order is issued again from there (decision 039). */
function forgetOrder(campaign: Campaign, live: LiveOrder, loss: OrderLoss): void {
  const { order } = live
  delete campaign.orders[order.id]
  if (campaign.foreign?.order === order.id) campaign.foreign.order = null
  if (loss.started) countFruitlessRun(campaign, 'fruitless_measuring', { run_id: live.run_id, at: loss.at })
  if (loss.started && !loss.partial) campaign.spent.minutes += countMinutes(live.run_id ?? '', 0)
  if (loss.partial) {
    countMeasured(campaign, loss.by, loss.partial.report)
    campaign.spent.executions += loss.partial.report.executions.length
  }
  const members = listOrderMembers(campaign, order)
  if (members.length === 0 && loss.started) interruptCampaignOrder(campaign, order, loss)
  for (const experiment of members) {
    if (experiment.order !== order.id && experiment.holdout !== order.id) continue
    if (loss.started) experiment.interrupted += 1
    if (experiment.holdout === order.id) {
      experiment.holdout = null
      continue
    }
    if (loss.started) interruptMember(experiment, order, loss)
    experiment.order = experiment.standalone
    experiment.status = experiment.standalone === null ? 'queued' : 'measured'
  }
}

function interruptCampaignOrder(campaign: Campaign, order: Order, loss: OrderLoss): void {
  const subject = buildOrderSubject(order)
  const times = (campaign.interruptions[subject]?.times ?? 0) + 1
  campaign.interruptions[subject] = buildInterruption(order, loss, times)
  campaign.attempts[subject] = order.attempt - 1
}

function interruptMember(experiment: Experiment, order: Order, loss: OrderLoss): void {
  experiment.attempts = order.attempt - 1
  experiment.interruption = buildInterruption(order, loss, experiment.interrupted)
  if (loss.partial || order.stop.rule !== 'paired' || experiment.evidence === null) return
  // The number of begun pairs is unknown. Pairs of earlier runs stay, and the evidence for keeping starts from zero.
  const { id, evidence } = experiment
  const piece = order.resumes?.pieces[id]
  const gap: PairJob = { order: order.id, runner: '', complete: false, pairs: [], unreported: true }
  evidence.jobs = [...evidence.jobs, ...(piece ? [piece] : []), gap]
  experiment.interruption = null
}

function buildInterruption(order: Order, { at, partial }: OrderLoss, times: number): Interruption {
  const { id, coins, base, harness, stop, candidates, earlier_jobs } = order
  const common = {
    order: id,
    rule: stop.rule,
    base: base.tree,
    harness,
    trees: Object.fromEntries(candidates.map(({ label, tree }) => [label, tree])),
    earlier_jobs,
    at,
    times,
  }
  if (!isPairRule(stop)) return { ...common, coins, block: 0, pieces: {} }
  const from = getFirstBlock(order)
  if (!partial) return { ...common, coins: null, block: from, pieces: order.resumes?.pieces ?? {} }
  const { report, begun } = partial
  const measured = { ...toMeasuredRun(report), begun }
  const pieces: Record<string, PairJob> = {}
  for (const { label } of candidates) {
    const piece = buildPairJob(toPairRequest(order), measured, label)
    if (piece.pairs.length > 0) pieces[label] = piece
  }
  const run = report.executions.filter(({ side, role }) => side === 'base' && role === 'sample').length
  return { ...common, coins, block: from + (begun === null ? run : begun.block + 1), pieces }
}

/** Drops an experiment's orders, so that measurements on another base or head cannot count for it. */
export function dropOrders(campaign: Campaign, experiment: Experiment): void {
  const released = [experiment.order, experiment.standalone, experiment.holdout]
  experiment.order = null
  experiment.standalone = null
  experiment.holdout = null
  releaseOrders(campaign, released)
}

/** Undoes a decision to keep that is not merged yet. */
export function clearLanding(campaign: Campaign, experiment: Experiment): void {
  if (experiment.status !== 'landing') return
  campaign.landing = null
  if (campaign.round?.winner === experiment.id) campaign.round.winner = null
  Object.assign(experiment, { outcome: null, verdict: null, reason: null })
}

/** Measured against the incumbent, so another incumbent or a withdrawn approval queues the experiment again. */
export const STATUSES_ON_INCUMBENT: ReadonlySet<Experiment['status']> = new Set([
  'ordered',
  'measured',
  'landing',
])

/** The incumbent or the harness has changed (`stale-base`): everything under way is merged and measured again. */
export function queueAll(campaign: Campaign): void {
  for (const experiment of listSubjects(campaign)) {
    if (!STATUSES_ON_INCUMBENT.has(experiment.status)) continue
    clearLanding(campaign, experiment)
    dropOrders(campaign, experiment)
    experiment.status = 'queued'
    experiment.round = null
    experiment.attempts = 0
  }
  for (const [id, live] of Object.entries(campaign.orders))
    if (live.order.purpose !== 'calibration' && live.order.purpose !== 'probe') delete campaign.orders[id]
  if (campaign.round) campaign.round.open = false
}

export const orderHandlers = {
  'order-issued': applyOrderIssued,
  'order-dispatched': applyOrderDispatched,
  'order-printed': applyOrderPrinted,
  measured: applyMeasured,
  'order-lost': applyOrderLost,
  'report-rejected': applyReportRejected,
}
