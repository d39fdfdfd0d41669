import { sha256 } from '../model/canonical.ts'
import { type EventDraft, eventId } from '../model/event.ts'
import type { OrderCandidate, OrderPurpose, StopRule } from '../model/order.ts'
import type { OrderId, Point } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import type { Action, Step } from './action.ts'
import type { World } from './world.ts'

/** Orders are issued by event first and dispatched after that event is accepted (design section 6). */
export interface Request {
  purpose: OrderPurpose
  round: number
  attempt: number
  cause: string
  candidates: OrderCandidate[]
  stop: StopRule
  base?: Point
  /** Only where the order itself tries another ruler: a sync. */
  ruler?: { spec_sha256: string; harness: string; pin: Point; spec: Spec }
}

const CALIBRATION_RUNS = 3
const MARGIN_SECONDS = 900

export function issue(world: World, requests: Request[]): { steps: Step[]; actions: Action[] } {
  const steps: Step[] = []
  const actions: Action[] = []
  const queue = queueLength(world, requests)
  for (const [index, request] of requests.entries()) {
    const draft = orderDraft(world, { request, index, queue })
    const sent = dispatch(world, eventId(draft))
    steps.push({ step: 'event', draft }, ...sent.steps)
    actions.push(...sent.actions)
  }
  return { steps, actions }
}

/** A local run id is known before the run, so the event comes first and a crash between is seen (invariant 7). */
export function dispatch(world: World, order: OrderId): { steps: Step[]; actions: Action[] } {
  const run_id = world.runner.runId
  const known = run_id === null || world.campaign.orders[order]?.run_id === run_id
  const draft = { kind: 'order-dispatched', cause: order, order, run_id: run_id ?? '' } as const
  return { steps: known ? [] : [{ step: 'event', draft }], actions: [{ do: 'dispatch', order }] }
}

/** One machine may measure one order at a time: each may have to wait for all the others. */
function queueLength({ runner, campaign }: World, requests: readonly Request[]): number {
  if (runner.runId === null) return 1
  return requests.length + Object.values(campaign.orders).filter(({ report }) => report === null).length
}

interface Issue {
  request: Request
  index: number
  queue: number
}

function orderDraft(world: World, { request, index, queue }: Issue): EventDraft<'order-issued'> {
  const { campaign } = world
  const ruler = request.ruler ?? {
    spec_sha256: campaign.spec_sha256,
    harness: campaign.harness,
    pin: campaign.pin,
    spec: world.spec,
  }
  return {
    kind: 'order-issued',
    cause: request.cause,
    purpose: request.purpose,
    round: request.round,
    attempt: request.attempt,
    spec_sha256: ruler.spec_sha256,
    harness: ruler.harness,
    pin: ruler.pin,
    base: request.base ?? campaign.incumbent,
    candidates: request.candidates,
    coins: sha256(`${world.entropy}:${index}:${request.cause}`),
    level: null,
    carried: {},
    stop: request.stop,
    deadline: deadline(world.now, ruler.spec, request, queue),
  }
}

/** The longest the orders before it and itself can take if everything runs into its timeout, and a margin. */
function deadline(now: string, spec: Spec, request: Request, queue: number): string {
  const { measurement, gates } = spec
  const sides = request.candidates.length + 1
  const perExecution = measurement.timeout_seconds + (measurement.score?.timeout_seconds ?? 0)
  const gateSeconds = gates.reduce((sum, gate) => sum + gate.timeout_seconds, 0)
  const setups = measurement.setup === null ? 0 : 2
  const seconds = sides * ((executions(spec) + setups) * perExecution + gateSeconds) + MARGIN_SECONDS
  return new Date(Date.parse(now) + queue * seconds * 1000).toISOString()
}

function executions(spec: Spec): number {
  const stability = spec.measurement.stability
  if (stability === null) return CALIBRATION_RUNS
  const { ladder, mode, repeat_count } = stability
  return mode === 'stable'
    ? 1
    : 1 + Math.max(repeat_count, ladder?.confirmation_repeats ?? 0, ladder?.exploratory_pairs ?? 0)
}

/** How this campaign measures an experiment; null while that is not known or not possible. */
export function experimentStop(world: World): StopRule | null {
  const { campaign, spec } = world
  if (spec.measurement.stability !== null) {
    if (spec.measurement.baseline === 'fresh') return { rule: 'stability', baseline: null }
    const stored = usableBaseline(world)
    return stored && { rule: 'stability', baseline: stored.snapshot }
  }
  const deterministic = campaign.calibration?.deterministic ?? spec.measurement.mode === 'once'
  if (!deterministic) return null
  const scale = campaign.calibration?.scale ?? (spec.evidence.scale === 'linear' ? 'linear' : 'log')
  return { rule: 'once', min_effect: spec.evidence.min_effect ?? 0, scale }
}

/** A stored score serves only for the same tree, ruler and kind of machine. */
export function usableBaseline(world: World) {
  const { baseline, incumbent, harness } = world.campaign
  if (!baseline || baseline.tree !== incumbent.tree || baseline.harness !== harness) return null
  return world.runner.machine === null || baseline.machine === world.runner.machine ? baseline : null
}

/** The incumbent measured for itself: does it repeat, what does it score? */
export function ownRequest(world: World, purpose: 'calibration' | 'baseline', attempt: number): Request {
  const calibrates = purpose === 'calibration'
  const stop: StopRule = calibrates ? { rule: 'calibrate', runs: CALIBRATION_RUNS } : { rule: 'alone' }
  return { purpose, round: 0, attempt, cause: world.campaign.started, candidates: [], stop }
}
