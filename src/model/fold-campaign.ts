import { aggregationIn } from './aggregate.ts'
import type { Campaign, Effect, Landing } from './campaign.ts'
import type { LedgerEvent } from './event.ts'
import { experimentsOf } from './experiments.ts'
import { ideaName } from './fold-backlog.ts'
import { askedAgain, enableProposers } from './fold-proposer.ts'
import { progressOf, requeueAll } from './fold-order.ts'
import { askedIn, EFFECT_JOBS } from './order.ts'
import { jobOf, measuredIn } from './pairs.ts'
import { addStepBack, isOwnGain } from './fold-progress.ts'
import { endLostAsking, endLostMeasuring } from './fruitless-runs.ts'
import type { Point } from './ids.ts'
import { countSpentMinutes } from './job-minutes.ts'
import { endRaiseObstacles, RAISE_POSSIBLE } from './raise-obstacle.ts'
import { SYNC_OBSTACLES } from './sync-awaited.ts'
import { subjectOf, subjectsOf } from './picked.ts'
import type { Handler } from './fold-handler.ts'

const ALERTS_KEPT = 50
const OBSTACLES: ReadonlySet<string> = new Set(SYNC_OBSTACLES)

const started: Handler<'campaign-started'> = (campaign, event) => {
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
  campaign.aggregation = aggregationIn(campaign)
  campaign.ruled_by = { start: event.seq, spec: event.seq }
  campaign.default_spec_sha256 = event.spec_sha256
  campaign.default_tip = event.start.commit
  campaign.harness = event.harness
  campaign.pin = event.start
  campaign.start = event.start
  campaign.reference = event.start
  campaign.incumbent = event.start
  campaign.next_number = event.first_number
}

const amended: Handler<'campaign-amended'> = (campaign, event) => {
  campaign.spec_sha256 = event.spec_sha256
  campaign.spec_yaml = event.spec_yaml
  if (event.source === 'default-branch') campaign.default_spec_sha256 = event.spec_sha256
  campaign.private_repository = event.private_repository ?? campaign.private_repository
  campaign.default_branch = event.default_branch ?? campaign.default_branch
  campaign.aggregation = aggregationIn(campaign)
  campaign.ruled_by.spec = event.seq
  changeHarness(campaign, event.harness)
}

/** Evidence of another harness is not carried: everything under way is measured anew. */
function changeHarness(campaign: Campaign, harness: string): void {
  if (campaign.harness === harness) return
  campaign.harness = harness
  campaign.calibration = null
  measureAnew(campaign)
  campaign.trees = {}
  campaign.tests = {}
  campaign.measured_as = {}
  campaign.proven = {}
  for (const { watch } of campaign.landings) watch.jobs = []
  requeueAll(campaign)
  campaign.orders = {}
}

/** The incumbent has no numbers any more; while nothing is kept, progress is counted from those it gets next. */
function measureAnew(campaign: Campaign): void {
  campaign.baseline = null
  if (campaign.steps.length === 0) campaign.origin = null
}

const calibrated: Handler<'calibrated'> = (campaign, event) => {
  const { order, deterministic, scale, reason, noise } = event
  campaign.calibration = { order, deterministic, scale, reason, noise }
  campaign.attempts = {}
  delete campaign.orders[order]
  if (!deterministic && noise === null) requeueAll(campaign)
}

const baselineMeasured: Handler<'baseline-measured'> = (campaign, event) => {
  const { order, tree, machine, harness, snapshot } = event
  campaign.baseline = { order, tree, machine, harness, snapshot }
  campaign.origin ??= { at: campaign.incumbent, snapshot }
  campaign.attempts = {}
  if (event.side === 'base') delete campaign.orders[order]
}

const incumbentMoved: Handler<'incumbent-moved'> = (campaign, event) => {
  campaign.incumbent = event.to
  campaign.attempts = {}
  if (event.why === 'merged' || event.why === 'foreign') campaign.since_incumbent = 0
  if (event.why !== 'merged') requeueAll(campaign)
}

const synced: Handler<'synced'> = (campaign, event) => {
  if (event.order !== null) delete campaign.orders[event.order]
  campaign.pin = event.to
  campaign.alerts = campaign.alerts.filter(({ code }) => !OBSTACLES.has(code))
  campaign.default_tip = event.default_tip
  for (const experiment of experimentsOf(campaign)) experiment.awaits_sync = null
  campaign.reference = { commit: event.default_tip, tree: event.default_tree }
  markUpstream(campaign, event.holds)
  changeHarness(campaign, event.harness)
  if (event.order === null) carryNumbers(campaign, event)
  else measureAnew(campaign)
}

/** The default branch has what was merged there, and what was picked from the campaign one by one. */
function markUpstream({ landings, picks }: Campaign, holds: readonly string[]): void {
  const picked = Object.values(picks).flatMap(({ picks: of, fate }) => (fate === 'merged' ? [of] : []))
  const held = new Set([...holds, ...picked])
  for (const landing of landings) if (held.has(landing.experiment)) landing.upstream = true
}

/** No measuring command reads the changed files, so the incumbent's numbers hold for the merge as well. */
function carryNumbers(campaign: Campaign, { from, to }: { from: Point; to: Point }): void {
  const { baseline, origin } = campaign
  campaign.measured_as[to.tree] = campaign.measured_as[from.tree] ?? from.tree
  if (baseline?.tree === from.tree) campaign.baseline = { ...baseline, tree: to.tree }
  if (origin?.at.commit === from.commit) campaign.origin = { ...origin, at: to }
}

const foreignTip: Handler<'foreign-tip'> = (campaign, event) => {
  if (campaign.foreign?.order) delete campaign.orders[campaign.foreign.order]
  campaign.foreign = null
  campaign.attempts = {}
  if (event.state === 'found' || event.state === 'blocked') {
    campaign.foreign = { event: event.id, to: event.to, order: null, state: event.state }
  }
}

/** Invariant 11: what is reported of a landing or the campaign is folded like everything else. */
const effectMeasured: Handler<'effect-measured'> = (campaign, event) => {
  const { what, experiment, order, metric, effect, interval, pairs, scale, from, to } = event
  const measured = { order, metric, effect, interval, pairs, scale }
  const landing = campaign.landings.find(one => one.experiment === experiment && one.reverted === null)
  if (what === 'progression') {
    reportProgress(campaign, { ...measured, from, to })
  } else if (landing && what === 'landing') landing.effect = measured
  else if (landing) watched(campaign, landing, event)
  delete campaign.orders[order]
  campaign.attempts = {}
}

/** By the first job, and by all of them: only then there is nothing left to measure. */
function reportProgress(campaign: Campaign, measured: Effect & { from: Point; to: Point }): void {
  const { from, to } = measured
  const jobs = progressOf(campaign, { from, to }).length
  campaign.progression = { ...measured, covers: coveredBy(campaign, { from, to }), jobs }
  if (jobs < EFFECT_JOBS) return
  campaign.progressing = null
  for (const [id, { order }] of Object.entries(campaign.orders))
    if (order.purpose === 'progression') delete campaign.orders[id]
}

/** Everything kept between the two commits; nothing where another commit was measured than the incumbent is. */
function coveredBy(
  { incumbent, reference, landings }: Campaign,
  { from, to }: { from: Point; to: Point },
): string[] {
  if (from.commit !== reference.commit || to.commit !== incumbent.commit) return []
  return landings.filter(isOwnGain).map(({ experiment }) => experiment)
}

function watched(campaign: Campaign, landing: Landing, event: LedgerEvent<'effect-measured'>): void {
  const live = campaign.orders[event.order]
  const jobs = live ? (live.order.carried[live.order.candidates[0]?.label ?? ''] ?? []) : []
  const latest = live?.report && jobOf(askedIn(live.order), measuredIn(live.report.report), 'incumbent')
  landing.watch = { state: event.state ?? 'open', jobs: latest ? [...jobs, latest] : jobs, at: event.at }
}

const reverted: Handler<'reverted'> = (campaign, event) => {
  addStepBack(campaign, event)
  for (const landing of campaign.landings)
    if (landing.experiment === event.experiment) landing.reverted = event.to.commit
  campaign.steered = campaign.steered.filter(
    wish => wish.action !== 'revert' || wish.experiment !== event.experiment,
  )
  for (const [tree, experiment] of Object.entries(campaign.trees))
    if (experiment === event.experiment) delete campaign.trees[tree]
}

const spent: Handler<'spent'> = (campaign, event) => {
  countSpentMinutes(campaign, event)
  campaign.spent.requests += event.requests
  campaign.spent.tokens += event.tokens
  campaign.spent.usd += event.usd
  if (event.what !== 'propose' || event.who === null) return
  campaign.answered[event.cause] = true
  endLostAsking(campaign)
  if (!event.ok) delete campaign.asked[event.cause]
  askedAgain(campaign, event.who, { ok: event.ok, seq: event.seq })
}

const alert: Handler<'alert'> = (campaign, event) => {
  const { code, about, message, at } = event
  if (code === RAISE_POSSIBLE) return endRaiseObstacles(campaign)
  campaign.alerts.push({ code, about, message, at })
  if (campaign.alerts.length > ALERTS_KEPT) campaign.alerts.shift()
}

const roundClosed: Handler<'round-closed'> = (campaign, event) => {
  if (campaign.round?.number === event.round) campaign.round.open = false
}

const paused: Handler<'campaign-paused'> = (campaign, event) => {
  if (campaign.status !== 'running') return
  campaign.status = 'paused'
  campaign.status_source = event.source
  campaign.status_reason = event.reason
}

const resumed: Handler<'campaign-resumed'> = (campaign, event) => {
  if (campaign.status === 'none') return
  if (event.encore !== true) enableProposers(campaign)
  endLostAsking(campaign)
  endLostMeasuring(campaign)
  if (campaign.status === 'running') return
  goOn(campaign, event.encore === true)
  campaign.status = 'running'
  campaign.status_reason = null
  if (campaign.foreign) campaign.foreign.state = 'found'
  dropAnswered(campaign)
}

/** A person who resumes it takes everything up again; the engine only what was approved late. */
function goOn(campaign: Campaign, encore: boolean): void {
  if (campaign.status !== 'stopped') return
  const { stop_code: code, status_reason: reason } = campaign
  campaign.encore = encore ? { code: code ?? '', reason: reason ?? '' } : null
  if (!encore) campaign.late = []
  // The stop may have interrupted them: that is not their doing.
  for (const subject of subjectsOf(campaign)) subject.interrupted = 0
}

/** What paused the campaign may have been mended since: what the engine measured for itself is measured again. */
function dropAnswered(campaign: Campaign): void {
  campaign.attempts = {}
  for (const [id, live] of Object.entries(campaign.orders)) {
    if (live.report && live.order.candidates.every(({ label }) => !subjectOf(campaign, label)))
      delete campaign.orders[id]
  }
}

const stopped: Handler<'campaign-stopped'> = (campaign, event) => {
  campaign.status = 'stopped'
  campaign.status_source = BY_PEOPLE.has(event.code) ? 'person' : 'engine'
  campaign.status_reason = event.reason
  campaign.stop_code = event.code
  campaign.late = []
  campaign.encore = null
}

/** Reasons to stop that are nobody's rule: somebody said so. */
const BY_PEOPLE: ReadonlySet<string> = new Set(['person', 'fresh', 'archived', 'merged'])

const PRIORITY = /^priority (\S+)$/

/** How soon something is tried, where it was not tried yet. */
const knobChanged: Handler<'knob-changed'> = (campaign, { knob, to }) => {
  const [, name = ''] = PRIORITY.exec(knob) ?? []
  if (to !== 'high' && to !== 'medium' && to !== 'low') return
  const idea = campaign.backlog.find(each => ideaName(each) === name)
  for (const each of [campaign.experiments[name], idea]) if (each) each.priority = to
}

/** Recorded for people and later rooms; the campaign's state does not depend on them. */
const recorded = (): void => {}

export const campaignHandlers = {
  'campaign-started': started,
  'campaign-amended': amended,
  calibrated,
  'baseline-measured': baselineMeasured,
  'incumbent-moved': incumbentMoved,
  synced,
  'foreign-tip': foreignTip,
  'effect-measured': effectMeasured,
  reverted,
  spent,
  alert,
  'round-closed': roundClosed,
  'campaign-paused': paused,
  'campaign-resumed': resumed,
  'campaign-stopped': stopped,
  'knob-changed': knobChanged,
  note: recorded,
}
