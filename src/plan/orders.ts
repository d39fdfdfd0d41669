import type { Campaign } from '../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { computeEventId, type EventDraft } from '../model/event.ts'
import type { EventId, Oid, OrderId, Point } from '../model/ids.ts'
import {
  buildOrderSubject,
  isPairRule,
  isReportingPurpose,
  type Order,
  type OrderCandidate,
  type OrderPurpose,
  type OrderTerms,
  type StopRule,
} from '../model/order.ts'
import type { Interruption, PairJob } from '../model/pairs.ts'
import type { Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import {
  countJudgedRuns,
  countJudges,
  countSampleItems,
  isJudgedMetric,
  listCountedMetrics,
} from '../spec/spec-facts.ts'
import { type PlanAction, type PlanStep, QUEUED_ELSEWHERE_SECONDS } from './action.ts'
import { setOrderMoneyAside } from './money.ts'
import { buildPairsRule } from './paired-order.ts'
import type { IncomingReports } from './reports.ts'
import { computeProposeSeconds } from './requests.ts'
import type { RunnerFacts, World } from './world.ts'

/** An event issues the order. winnow dispatches it after the remote accepted that event. */
export interface OrderRequest {
  purpose: OrderPurpose
  round: number
  /** For the progression test: the index of its job. */
  part?: number
  attempt: number
  cause: string
  candidates: OrderCandidate[]
  stop: StopRule
  earlier_jobs?: OrderTerms['earlier_jobs']
  /** Lost orders that this one continues, where it measures the same trees. */
  interrupted?: readonly Interruption[] | undefined
  base?: Point
  /** Set only by probes. */
  probing?: OrderTerms['probing']
  /** Set only by a sync, which tries another spec and harness. */
  ruler?: { spec_sha256: string; harness: string; pin: Point; spec: Spec }
}

export type CampaignOrderPurpose = 'calibration' | 'noise' | 'baseline'

const CALIBRATION_RUNS = 3
/** Counts may differ a little between runs, and more runs show by how much. */
const COUNTING_RUNS = 6

export function countCalibrationRuns(spec: Spec): number {
  return listCountedMetrics(spec).length > 0 ? COUNTING_RUNS : CALIBRATION_RUNS
}

/** `machine`: a stored score is valid only for the same kind of machine. */
export type ComparingFacts = Pick<World, 'campaign' | 'spec'> & { runner: Pick<RunnerFacts, 'machine'> }

/** State of an order that belongs to no experiment: calibration, baseline, sync, foreign. */
type CampaignOrder =
  | { is: 'wanted'; attempt: number; earlier_jobs?: OrderTerms['earlier_jobs']; interrupted?: Interruption[] }
  /** `postponed`: why no run starts until a later time. */
  | { is: 'under way'; postponed?: string }
  | { is: 'answered'; order: Order; report: Report; event: EventId }
  | { is: 'given up'; reason: string }

export type AnsweredOrder = Extract<CampaignOrder, { is: 'answered' }>

export type UnansweredOrder = Exclude<CampaignOrder, AnsweredOrder>

type OrderSubject = Pick<OrderTerms, 'purpose' | 'base' | 'candidates' | 'part'>

/** A lost order is issued again with its coins; pairs continue after those that had begun (decision 039). */
interface ResumedOrder {
  resumes: NonNullable<OrderTerms['resumes']>
  coins: string | null
}

type RepeatedOrder = Pick<OrderTerms, 'base' | 'candidates' | 'harness'> & { stop: StopRule }

// Issuing orders

export function draftOrders(
  world: World,
  requests: OrderRequest[],
): { steps: PlanStep[]; actions: PlanAction[] } {
  const steps: PlanStep[] = []
  const actions: PlanAction[] = []
  // One machine may measure one order at a time: each may have to wait for all the others.
  const open = Object.values(world.campaign.orders).filter(({ report }) => report === null)
  const queue = world.runner.runId === null ? 1 : requests.length + open.length
  const money = setOrderMoneyAside(world, requests)
  for (const [index, request] of requests.entries()) {
    const aside = money[index] ?? null
    if (aside === null) continue
    const draft = { ...buildOrderDraft(world, request, index, queue), ...aside }
    const sent = dispatchOrder(world, computeEventId(draft))
    steps.push({ step: 'event', draft }, ...sent.steps)
    actions.push(...sent.actions)
  }
  return { steps, actions }
}

function buildOrderDraft(
  world: World,
  request: OrderRequest,
  index: number,
  queue: number,
): EventDraft<'order-issued'> {
  const { ruler = { ...world.campaign, spec: world.spec }, base = world.campaign.incumbent } = request
  const { spec_sha256, harness, pin, spec } = ruler
  const { purpose, round, part, attempt, cause, candidates, stop, earlier_jobs = {} } = request
  const { probing } = request
  const resumed = resumeOrder(request.interrupted ?? [], { base, candidates, harness, stop })
  const start = Date.parse(world.now) + 1000 * computeStartDelay(world)
  const partField = part === undefined ? {} : { part }
  return {
    kind: 'order-issued',
    cause,
    purpose,
    round,
    ...partField,
    attempt,
    spec_sha256,
    harness,
    pin,
    base,
    candidates,
    coins: resumed?.coins ?? hashSha256(`${world.entropy}:${index}:${cause}`),
    earlier_jobs,
    ...(resumed === null ? {} : { resumes: resumed.resumes }),
    ...(probing === undefined ? {} : { probing }),
    ...buildSuiteTerms(spec, request),
    stop,
    deadline: computeDeadline(start, spec, request, queue),
  }
}

/** A holdout has a command of its own, which measures no task. Probes run each task once at most. */
export function buildSuiteTerms(
  { measurement: { suite } }: Pick<Spec, 'measurement'>,
  { stop, purpose }: Pick<OrderTerms, 'stop' | 'purpose'>,
): Pick<OrderTerms, 'suite'> {
  if (suite === null || stop.rule === 'holdout') return {}
  const seeds = purpose === 'probe' ? 1 : suite.seeds
  return { suite: { tasks: suite.tasks.map(({ name }) => name), seeds } }
}

/** Null where trees, harness or rule differ from those of the lost orders. */
function resumeOrder(interruptions: readonly Interruption[], repeated: RepeatedOrder): ResumedOrder | null {
  const [first, ...others] = interruptions
  if (first === undefined || others.some(({ order }) => order !== first.order)) return null
  if (!interruptions.every(each => isSameOrder(each, repeated))) return null
  const { order, block, coins } = first
  const labels = new Set<string>(repeated.candidates.map(({ label }) => label))
  const pieces: Record<string, PairJob> = {}
  for (const each of interruptions)
    for (const [label, piece] of Object.entries(each.pieces)) if (labels.has(label)) pieces[label] = piece
  return { resumes: { order, block, pieces }, coins }
}

function isSameOrder({ rule, base, harness, trees }: Interruption, repeated: RepeatedOrder): boolean {
  const { candidates } = repeated
  return (
    rule === repeated.stop.rule &&
    base === repeated.base.tree &&
    harness === repeated.harness &&
    candidates.every(({ label, tree }) => trees[label] === tree)
  )
}

const MARGIN_SECONDS = 900

/** Assumes that this order and all before it run into every timeout, and adds a margin. */
function computeDeadline(now: number, spec: Spec, request: OrderRequest, queue: number): string {
  const { measurement, gates } = spec
  const sides = request.candidates.length + 1
  const runs = countExecutionsPerSide(spec, request.stop)
  const own = (measurement.suite?.tasks ?? []).map(({ timeout_seconds: seconds = 0 }) => seconds)
  const perExecution =
    Math.max(measurement.timeout_seconds, ...own) + (measurement.score?.timeout_seconds ?? 0)
  const gateSeconds = gates.reduce((sum, gate) => sum + gate.timeout_seconds, 0)
  const setups = measurement.setup === null ? 0 : 2
  const measuring = sides * ((runs + setups) * perExecution + gateSeconds)
  const samples = request.purpose === 'probe' ? sides : 1
  const seconds = measuring + samples * computeJudgingSeconds(spec) + MARGIN_SECONDS
  return new Date(now + queue * seconds * 1000).toISOString()
}

function countExecutionsPerSide(spec: Spec, stop: StopRule): number {
  if (isJudgedMetric(spec) && stop.rule === 'holdout') return 1
  if (isJudgedMetric(spec) && isPairRule(stop)) return countJudgedRuns(spec)
  if (stop.rule === 'paired') return Math.max(stop.pairs, stop.keep_check?.pairs ?? 0) + 1
  if (stop.rule === 'pairs' || stop.rule === 'holdout') return stop.pairs + 1
  const { stability, suite } = spec.measurement
  // A probe runs one task, maybe twice, and then all of them.
  if (suite !== null) return suite.tasks.length * suite.seeds + (stop.rule === 'once' ? 2 : 0)
  if (stability === null) return countCalibrationRuns(spec)
  const { ladder, mode, repeat_count } = stability
  return mode === 'stable'
    ? 1
    : 1 + Math.max(repeat_count, ladder?.confirmation_repeats ?? 0, ladder?.exploratory_pairs ?? 0)
}

/** A timed measurement waits until the proposers on this machine have answered. */
function computeStartDelay({ asking, spec, runner }: World): number {
  if (runner.runId === null) return QUEUED_ELSEWHERE_SECONDS
  return asking.length === 0 ? 0 : computeProposeSeconds(spec)
}

/** A local run id is known before the run, so its event comes first: a crash is visible (invariant 7). */
export function dispatchOrder(world: World, order: OrderId): { steps: PlanStep[]; actions: PlanAction[] } {
  const run_id = world.runner.runId
  const known = run_id === null || world.campaign.orders[order]?.run_id === run_id
  const draft = { kind: 'order-dispatched', cause: order, order, run_id: run_id ?? '' } as const
  return { steps: known ? [] : [{ step: 'event', draft }], actions: [{ do: 'dispatch', order }] }
}

/** The longest a request may take. Each may be retried once, hence the factor 2 below. */
const SECONDS_PER_JUDGE_REQUEST = 300
/** Their number is known only when they are read. */
const EXPECTED_LABELS = 50

export function computeJudgingSeconds(spec: Pick<Spec, 'metric' | 'measurement'>): number {
  const { judge } = spec.metric
  if (!isJudgedMetric(spec) || judge === null) return 0
  const samples = judge.confirmation_seed !== null && spec.measurement.stability !== null ? 2 : 1
  const shown = [
    ...Array.from({ length: samples }, () => countSampleItems(judge)),
    judge.singleton_sample,
    judge.calibration === null ? 0 : EXPECTED_LABELS,
  ]
  const requests = shown.reduce((sum, items) => sum + Math.ceil(items / judge.batch_size), 0)
  return SECONDS_PER_JUDGE_REQUEST * 2 * countJudges(judge) * requests
}

// Comparison of two trees

/** The way this campaign compares two trees; null before calibration has decided it. */
type ComparisonMethod = { by: 'numbers'; stop: StopRule } | { by: 'pairs' }

export function selectComparison(world: ComparingFacts): ComparisonMethod | null {
  const { campaign, spec } = world
  if (spec.measurement.stability !== null) {
    if (spec.measurement.baseline === 'fresh')
      return { by: 'numbers', stop: { rule: 'stability', baseline: null } }
    const stored = findUsableBaseline(world)
    return stored && { by: 'numbers', stop: { rule: 'stability', baseline: stored.snapshot } }
  }
  const deterministic = campaign.calibration?.deterministic ?? spec.measurement.mode === 'once'
  if (!deterministic) return campaign.calibration?.noise ? { by: 'pairs' } : null
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  const { tolerance } = campaign.calibration ?? {}
  const allowed = tolerance === undefined ? {} : { tolerance }
  const stop: StopRule = { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale, ...allowed }
  return { by: 'numbers', stop }
}

/** For a revert or a foreign tip, which need no gain but must do no harm. */
export function buildNoHarmRule(world: World): StopRule | null {
  const comparison = selectComparison(world)
  if (comparison === null) return null
  return comparison.by === 'pairs' ? buildPairsRule(world) : comparison.stop
}

/** The order of an update that lands without proof is its pass: where pairs would decide, it is measured alone. */
export function buildUnprovenRule(world: ComparingFacts): StopRule | null {
  const comparison = selectComparison(world)
  return comparison?.by === 'pairs' ? { rule: 'alone' } : (comparison?.stop ?? null)
}

/** A stored score is valid only for the same tree, harness and kind of machine. */
export function findUsableBaseline(world: Pick<ComparingFacts, 'campaign' | 'runner'>) {
  const { baseline, incumbent, harness } = world.campaign
  if (!baseline || baseline.tree !== incumbent.tree || baseline.harness !== harness) return null
  return world.runner.machine === null || baseline.machine === world.runner.machine ? baseline : null
}

// Orders of the campaign itself

/** The incumbent as its own candidate: any difference between the two is noise, or a biased harness. */
export function toBaseAsCandidate({ commit, tree }: Point): OrderCandidate {
  return { label: 'base-copy', head: commit, tree }
}

/** Measures the incumbent itself: whether it repeats, how noisy it is, its score. */
export function buildCampaignOrderRequest(
  world: Pick<World, 'campaign' | 'spec'>,
  purpose: CampaignOrderPurpose,
  { attempt, earlier_jobs = {}, interrupted }: Pick<OrderRequest, 'attempt' | 'earlier_jobs' | 'interrupted'>,
): OrderRequest {
  const { started, incumbent } = world.campaign
  const common = { round: 0, attempt, earlier_jobs, interrupted, cause: started }
  switch (purpose) {
    case 'baseline':
      return { ...common, purpose, candidates: [], stop: { rule: 'alone' } }
    case 'calibration':
      return {
        ...common,
        purpose,
        candidates: [],
        stop: { rule: 'calibrate', runs: countCalibrationRuns(world.spec) },
      }
    case 'noise': {
      const candidates = [toBaseAsCandidate(incumbent)]
      return { ...common, purpose: 'calibration', candidates, stop: buildPairsRule(world) }
    }
    default:
      return purpose satisfies never
  }
}

export function findCampaignOrder(
  world: World,
  incoming: IncomingReports,
  about: OrderSubject,
): CampaignOrder {
  const subject = buildOrderSubject(about)
  const live = Object.values(world.campaign.orders).find(({ order }) => buildOrderSubject(order) === subject)
  if (!live) return requestCampaignOrder(world, subject, about)
  const arrived = incoming.reports.get(live.order.id)
  return arrived ? { is: 'answered', order: live.order, ...arrived } : { is: 'under way' }
}

/** After this many losses in a row, GitHub starts one run an hour; effects and probes are no longer measured. */
const MAX_LOSSES = 5

const LOSS_DELAY_MS = 3_600_000

/** A person restarts a local run. On GitHub a harness that ends its machine would cost minutes forever. */
function requestCampaignOrder(world: World, subject: string, { purpose, base }: OrderSubject): CampaignOrder {
  const { campaign, runner, now } = world
  const used = campaign.attempts[subject] ?? 0
  const loss = campaign.interruptions[subject]
  if (loss === undefined || loss.base !== base.tree)
    return planNextAttempt(world, used, 'no report came back')
  if (loss.times >= MAX_LOSSES) {
    if (isReportingPurpose(purpose) || purpose === 'probe')
      return { is: 'given up', reason: `measuring was interrupted ${loss.times} times` }
    const next = Date.parse(loss.at) + LOSS_DELAY_MS
    if (runner.runId === null && Date.parse(now) < next)
      return {
        is: 'under way',
        postponed: `${loss.times} measuring runs in a row left no usable report; the next one starts after ${new Date(next).toISOString()}`,
      }
  }
  const next = planNextAttempt(world, used, 'no report came back')
  return next.is === 'wanted' ? { ...next, earlier_jobs: loss.earlier_jobs, interrupted: [loss] } : next
}

export function appendPostponement(waitsFor: string, order: UnansweredOrder): string {
  const postponed = order.is === 'under way' ? order.postponed : undefined
  return postponed === undefined ? waitsFor : `${waitsFor}: ${postponed}`
}

/** Failures that are no verdict are measured again, as often as those of an experiment. */
export function planNextAttempt(world: World, used: number, failure: string): UnansweredOrder {
  if (used < world.spec.execution.max_attempts) return { is: 'wanted', attempt: used + 1 }
  return { is: 'given up', reason: `${failure} (${used} attempts)` }
}

// Interrupted orders

/** Checks one candidate only: the others of the interrupted order may have changed since. */
export function hasSameTrees(
  { base, harness, trees }: Interruption,
  repeated: { base: Oid; harness: string; label: string; tree: Oid },
): boolean {
  return base === repeated.base && harness === repeated.harness && trees[repeated.label] === repeated.tree
}

/** Leaving interrupted pairs out, or drawing them again, would be a re-roll. */
export function isExactResumption(campaign: Campaign, order: Order, subject: string): boolean {
  if (!isPairRule(order.stop)) return true
  const ownInterruption = campaign.interruptions[subject]
  const members = order.candidates.flatMap(({ label, tree }) => {
    const found = campaign.experiments[label]?.interruption ?? campaign.picks[label]?.interruption ?? null
    const repeated = { base: order.base.tree, harness: order.harness, label, tree }
    return found !== null && found.rule === order.stop.rule && hasSameTrees(found, repeated) ? [found] : []
  })
  const known = members.length > 0 ? members : ownInterruption === undefined ? [] : [ownInterruption]
  const wanted = resumeOrder(known, order)
  if (wanted === null) return members.length === 0 && order.resumes === undefined
  const { resumes, coins } = order
  const sameCoins = wanted.coins === null || wanted.coins === coins
  if (resumes === undefined) return false
  return sameCoins && toCanonicalJson(resumes) === toCanonicalJson(wanted.resumes)
}
