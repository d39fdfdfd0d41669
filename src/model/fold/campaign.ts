import { readCampaignSpec } from '../../spec/load.ts'
import { dropAlerts, endFruitlessRuns, RAISE_OBSTACLES, RAISED_LIMIT_READABLE } from '../alerts.ts'
import {
  type Campaign,
  type EffectMeasurement,
  type EventHandler,
  findLanding,
  type Landing,
} from '../campaign.ts'
import { toCanonicalJson } from '../canonical-json.ts'
import type { LedgerEvent } from '../event.ts'
import { SYNC_OBSTACLES } from '../event-schemas.ts'
import { findSubject, listExperiments, listSubjects } from '../experiment.ts'
import { isProbedAgain } from '../harness-guard.ts'
import type { Point } from '../ids.ts'
import { EFFECT_JOBS, toPairRequest } from '../order.ts'
import { buildPairJob, toMeasuredRun } from '../pairs.ts'
import { getAggregation } from '../report.ts'
import { countCost, addRevertStep, countSpentMinutes, isOwnGain } from './counters.ts'
import { recordEpoch } from './epochs.ts'
import { getProgressJobs, queueAll } from './orders.ts'
import { enableProposers, formatIdeaName, recordAnswerOutcome } from './proposers.ts'

const MAX_ALERTS = 50

const applyCampaignStarted: EventHandler<'campaign-started'> = (campaign, event) => {
  campaign.name = event.spec
  campaign.spec_path = event.spec_path
  campaign.status = 'running'
  campaign.status_reason = null
  campaign.started = event.id
  campaign.started_at = event.at
  campaign.rule_version = event.rule_version
  campaign.host = event.host ?? null
  campaign.private_repository = event.private_repository ?? false
  campaign.default_branch = event.default_branch
  campaign.object_format = event.object_format
  campaign.spec_sha256 = event.spec_sha256
  campaign.spec_yaml = event.spec_yaml
  readSpecFacts(campaign)
  campaign.set_by = { start: event.seq, spec: event.seq }
  campaign.default_spec_sha256 = event.spec_sha256
  campaign.default_tip = event.start.commit
  campaign.harness = event.harness
  campaign.pin = event.start
  campaign.start = event.start
  campaign.reference = event.start
  campaign.incumbent = event.start
  campaign.next_number = event.first_number
}

/** What the fold of later events needs of the spec in force. */
function readSpecFacts(campaign: Campaign): void {
  const spec = readCampaignSpec(campaign)
  campaign.aggregation = getAggregation(spec)
  campaign.direction = spec?.metric.primary.direction ?? 'minimize'
}

const applyCampaignAmended: EventHandler<'campaign-amended'> = (campaign, event) => {
  const scope = readCampaignSpec(campaign)?.scope
  campaign.spec_sha256 = event.spec_sha256
  campaign.spec_yaml = event.spec_yaml
  if (event.source === 'default-branch') campaign.default_spec_sha256 = event.spec_sha256
  campaign.private_repository = event.private_repository ?? campaign.private_repository
  campaign.default_branch = event.default_branch ?? campaign.default_branch
  readSpecFacts(campaign)
  campaign.set_by.spec = event.seq
  changeHarness(campaign, event.harness)
  if (toCanonicalJson(readCampaignSpec(campaign)?.scope ?? null) !== toCanonicalJson(scope ?? null))
    dropProbes(campaign)
  // Jobs measure only orders of the spec in force.
  dropProbeOrders(campaign)
}

/** Probes change the files in scope and have to pass the harness: another scope or harness is probed again. */
function dropProbes(campaign: Campaign): void {
  campaign.probes = null
  dropProbeOrders(campaign)
}

function dropProbeOrders(campaign: Campaign): void {
  for (const [id, { order }] of Object.entries(campaign.orders))
    if (order.purpose === 'probe') delete campaign.orders[id]
  delete campaign.attempts['probe']
  delete campaign.interruptions['probe']
}

/** Evidence of another harness does not count: everything under way is measured again. */
function changeHarness(campaign: Campaign, harness: string): void {
  if (campaign.harness === harness) return
  campaign.harness = harness
  campaign.calibration = null
  dropProbes(campaign)
  resetMeasurements(campaign)
  campaign.trees = {}
  campaign.tests = {}
  campaign.measured_as = {}
  campaign.proven = {}
  for (const { watch } of campaign.landings) watch.jobs = []
  queueAll(campaign)
  campaign.orders = {}
}

/** Drops the incumbent's numbers. Before the first landing, progress starts again from its next numbers. */
function resetMeasurements(campaign: Campaign): void {
  campaign.baseline = null
  if (campaign.steps.length === 0) campaign.origin = null
}

const applyCalibrated: EventHandler<'calibrated'> = (campaign, event) => {
  const { order, deterministic, scale, reason, noise, quieter, tolerance } = event
  const found = {
    ...(quieter === undefined ? {} : { quieter }),
    ...(tolerance === undefined ? {} : { tolerance }),
  }
  campaign.calibration = { order, deterministic, scale, reason, noise, ...found }
  campaign.attempts = {}
  // Where the same report is also the first baseline, that event reads the order once more, and removes it.
  if (noise !== null && campaign.baseline !== null) delete campaign.orders[order]
  if (!deterministic && noise === null) queueAll(campaign)
}

const applyProbed: EventHandler<'probed'> = (campaign, event) => {
  const { harness, order, results, ignored_by, vanish_gain, not_probed } = event
  if (harness !== campaign.harness) return
  dropProbes(campaign)
  campaign.probes = { harness, order, results, ignored_by, vanish_gain, not_probed }
}

const applyBaselineMeasured: EventHandler<'baseline-measured'> = (campaign, event) => {
  const { order, tree, machine, harness, snapshot } = event
  if (!isBetterKnown(campaign, event)) campaign.baseline = { order, tree, machine, harness, snapshot }
  campaign.origin ??= { at: campaign.incumbent, snapshot }
  recordEpoch(campaign, event)
  campaign.attempts = {}
  if (event.side === 'base') delete campaign.orders[order]
}

/** One more pass of a tree whose pairs were measured adds nothing to what is known of it. */
function isBetterKnown(
  { baseline, calibration }: Campaign,
  { tree, harness, snapshot }: LedgerEvent<'baseline-measured'>,
): boolean {
  if (!calibration?.noise || baseline?.tree !== tree || baseline.harness !== harness) return false
  return (baseline.snapshot.sample_count ?? 0) > (snapshot.sample_count ?? 0)
}

const applyIncumbentMoved: EventHandler<'incumbent-moved'> = (campaign, event) => {
  campaign.incumbent = event.to
  campaign.attempts = {}
  if (event.why === 'merged' || event.why === 'foreign') campaign.since_incumbent = 0
  if (event.why !== 'merged') queueAll(campaign)
}

const applySynced: EventHandler<'synced'> = (campaign, event) => {
  if (event.order !== null) delete campaign.orders[event.order]
  campaign.pin = event.to
  dropAlerts(campaign, SYNC_OBSTACLES)
  campaign.default_tip = event.default_tip
  for (const experiment of listExperiments(campaign)) experiment.awaits_sync = null
  campaign.reference = { commit: event.default_tip, tree: event.default_tree }
  markUpstream(campaign, event.holds)
  changeHarness(campaign, event.harness)
  if (event.order === null) carryNumbers(campaign, event)
  else resetMeasurements(campaign)
}

/** Marks the landings that the default branch contains: those a person merged there, and merged picks. */
function markUpstream({ landings, picks }: Campaign, holds: readonly string[]): void {
  const picked = Object.values(picks).flatMap(({ picks: id, pick_end }) =>
    pick_end === 'merged' ? [id] : [],
  )
  const upstream = new Set([...holds, ...picked])
  for (const landing of landings) if (upstream.has(landing.experiment)) landing.upstream = true
}

/** No measuring command reads the changed files, so the incumbent's numbers also hold for the merge. */
function carryNumbers(campaign: Campaign, { from, to }: { from: Point; to: Point }): void {
  const { baseline, origin } = campaign
  campaign.measured_as[to.tree] = campaign.measured_as[from.tree] ?? from.tree
  if (baseline?.tree === from.tree) campaign.baseline = { ...baseline, tree: to.tree }
  if (origin?.at.commit === from.commit) campaign.origin = { ...origin, at: to }
}

const applyForeignTip: EventHandler<'foreign-tip'> = (campaign, event) => {
  if (campaign.foreign?.order) delete campaign.orders[campaign.foreign.order]
  campaign.foreign = null
  campaign.attempts = {}
  if (event.state === 'found' || event.state === 'blocked') {
    campaign.foreign = { event: event.id, to: event.to, order: null, state: event.state }
  }
}

const applyEffectMeasured: EventHandler<'effect-measured'> = (campaign, event) => {
  const { what, experiment, order, metric, effect, interval, pairs, scale, from, to } = event
  const measured = { order, metric, effect, interval, pairs, scale }
  const landing = findLanding(campaign, experiment ?? '')
  if (what === 'progression') applyProgress(campaign, { ...measured, from, to })
  else if (landing && what === 'landing') landing.effect = measured
  else if (landing) updateWatch(campaign, landing, event)
  delete campaign.orders[order]
  campaign.attempts = {}
}

/** Recorded after the first job and after the last one. Only the last one ends the measurement. */
function applyProgress(campaign: Campaign, measured: EffectMeasurement & { from: Point; to: Point }): void {
  const { incumbent, reference, landings } = campaign
  const jobs = getProgressJobs(campaign, measured).length
  const isCurrent = measured.from.commit === reference.commit && measured.to.commit === incumbent.commit
  const covers = isCurrent ? landings.filter(isOwnGain).map(({ experiment }) => experiment) : []
  campaign.progression = { ...measured, covers, jobs }
  if (jobs < EFFECT_JOBS) return
  campaign.progressing = null
  for (const [id, { order }] of Object.entries(campaign.orders))
    if (order.purpose === 'progression') delete campaign.orders[id]
}

function updateWatch(campaign: Campaign, landing: Landing, event: LedgerEvent<'effect-measured'>): void {
  const live = campaign.orders[event.order]
  const jobs = live ? (live.order.earlier_jobs[live.order.candidates[0]?.label ?? ''] ?? []) : []
  const latest =
    live?.report && buildPairJob(toPairRequest(live.order), toMeasuredRun(live.report.report), 'incumbent')
  landing.watch = { state: event.state ?? 'open', jobs: latest ? [...jobs, latest] : jobs, at: event.at }
}

const applyReverted: EventHandler<'reverted'> = (campaign, event) => {
  addRevertStep(campaign, event)
  for (const landing of campaign.landings)
    if (landing.experiment === event.experiment) landing.reverted = event.to.commit
  campaign.steered = campaign.steered.filter(
    request => request.action !== 'revert' || request.experiment !== event.experiment,
  )
  for (const [tree, experiment] of Object.entries(campaign.trees))
    if (experiment === event.experiment) delete campaign.trees[tree]
}

const applySpent: EventHandler<'spent'> = (campaign, event) => {
  countSpentMinutes(campaign, event)
  countCost(campaign, event.what, event)
  if (event.what !== 'propose' || event.who === null) return
  campaign.answered[event.cause] = true
  endFruitlessRuns(campaign, 'fruitless_asking')
  if (!event.ok) delete campaign.proposal_requests[event.cause]
  recordAnswerOutcome(campaign, event.who, { ok: event.ok, seq: event.seq })
}

const applyAlert: EventHandler<'alert'> = (campaign, event) => {
  const { code, about, message, at } = event
  if (code === RAISED_LIMIT_READABLE) return dropAlerts(campaign, RAISE_OBSTACLES)
  campaign.alerts.push({ code, about, message, at })
  if (campaign.alerts.length > MAX_ALERTS) campaign.alerts.shift()
}

const applyRoundClosed: EventHandler<'round-closed'> = (campaign, event) => {
  if (campaign.round?.number === event.round) campaign.round.open = false
}

const applyPaused: EventHandler<'campaign-paused'> = (campaign, event) => {
  if (campaign.status !== 'running') return
  campaign.status = 'paused'
  campaign.status_source = event.source
  campaign.status_reason = event.reason
}

const applyResumed: EventHandler<'campaign-resumed'> = (campaign, event) => {
  if (campaign.status === 'none') return
  if (event.extra_round !== true) enableProposers(campaign)
  endFruitlessRuns(campaign, 'fruitless_asking')
  endFruitlessRuns(campaign, 'fruitless_measuring')
  if (campaign.status === 'running') return
  if (campaign.status === 'stopped') continueStopped(campaign, event.extra_round === true)
  campaign.status = 'running'
  campaign.status_reason = null
  if (campaign.foreign) campaign.foreign.state = 'found'
  dropAnsweredOrders(campaign)
}

/** A person's resume continues everything. The engine's resume is an extra round for late approvals only. */
function continueStopped(campaign: Campaign, isExtraRound: boolean): void {
  const { stop_code: code, status_reason: reason } = campaign
  campaign.extra_round = isExtraRound ? { code: code ?? '', reason: reason ?? '' } : null
  if (!isExtraRound) campaign.approved_after_stop = []
  // The stop may have caused these interruptions.
  for (const subject of listSubjects(campaign)) subject.interrupted = 0
}

/** A person may have fixed the cause of the pause, so the campaign's own orders are measured again. */
function dropAnsweredOrders(campaign: Campaign): void {
  if (isProbedAgain(campaign.probes)) campaign.probes = null
  campaign.attempts = {}
  for (const [id, live] of Object.entries(campaign.orders)) {
    if (live.report && live.order.candidates.every(({ label }) => !findSubject(campaign, label)))
      delete campaign.orders[id]
  }
}

const applyStopped: EventHandler<'campaign-stopped'> = (campaign, event) => {
  campaign.status = 'stopped'
  campaign.status_source = CODES_BY_PEOPLE.has(event.code) ? 'person' : 'engine'
  campaign.status_reason = event.reason
  campaign.stop_code = event.code
  campaign.approved_after_stop = []
  campaign.extra_round = null
}

/** Codes of stops that a person caused, not a rule. */
const CODES_BY_PEOPLE: ReadonlySet<string> = new Set(['person', 'fresh', 'archived', 'merged'])

/** Changes the priority of an experiment or of an idea in the backlog. */
const applyKnobChanged: EventHandler<'knob-changed'> = (campaign, { knob, to }) => {
  const [, name = ''] = /^priority (\S+)$/.exec(knob) ?? []
  if (to !== 'high' && to !== 'medium' && to !== 'low') return
  const idea = campaign.backlog.find(each => formatIdeaName(each) === name)
  for (const each of [campaign.experiments[name], idea]) if (each) each.priority = to
}

const applyUncappedAllowed: EventHandler<'uncapped-allowed'> = (campaign, { spenders }) => {
  campaign.uncapped = [...new Set([...campaign.uncapped, ...spenders])]
}

export const campaignHandlers = {
  'campaign-started': applyCampaignStarted,
  'campaign-amended': applyCampaignAmended,
  calibrated: applyCalibrated,
  probed: applyProbed,
  'baseline-measured': applyBaselineMeasured,
  'incumbent-moved': applyIncumbentMoved,
  synced: applySynced,
  'foreign-tip': applyForeignTip,
  'effect-measured': applyEffectMeasured,
  reverted: applyReverted,
  spent: applySpent,
  alert: applyAlert,
  'round-closed': applyRoundClosed,
  'campaign-paused': applyPaused,
  'campaign-resumed': applyResumed,
  'campaign-stopped': applyStopped,
  'knob-changed': applyKnobChanged,
  'uncapped-allowed': applyUncappedAllowed,
  note: () => {},
}
