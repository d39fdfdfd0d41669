import { assessCandidate } from '../decide/assess.ts'
import { explainMissingMean } from '../decide/ce/judged.ts'
import { buildSnapshot } from '../decide/metrics.ts'
import { describeSyncObstacle, findRefusedSyncAlert, isAwaitingSync } from '../model/alerts.ts'
import type { EventDraft } from '../model/event.ts'
import { SYNC_OBSTACLES, type SyncObstacle } from '../model/event-schemas.ts'
import { type Experiment, listExperiments } from '../model/experiment.ts'
import { buildCampaignRefs, type Point, toShortRef } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import { buildMachineKey } from '../model/report.ts'
import { type PlanStep, raiseAlert } from './action.ts'
import {
  type AnsweredOrder,
  appendPostponement,
  findCampaignOrder,
  type OrderRequest,
  planNextAttempt,
  type UnansweredOrder,
} from './orders.ts'
import { needsPermission } from './permissions.ts'
import type { IncomingReports } from './reports.ts'
import { isAheadOfSync, type SyncFacts, type World } from './world.ts'

/** The tip of the default branch, merged into the incumbent and measured with the harness it brings. */
export interface SyncPlan {
  steps: PlanStep[]
  requests: OrderRequest[]
  /** Why no new round may start; null when the incumbent holds the default branch's tip. */
  blocked: string | null
  /** Why it cannot be merged in as it is; null if it can. */
  hopeless: SyncObstacle | null
}

/** Rounds may start. Also used where the sync may not be pushed, which a person has been told. */
const NO_SYNC: SyncPlan = { steps: [], requests: [], blocked: null, hopeless: null }

/** A person's merge that equals winnow's is measured if it was not, and is no foreign tip. */
export function planManualSync(world: World, incoming: IncomingReports): SyncPlan | null {
  if (world.sync?.result !== 'clean' || world.sync.byHand === undefined) return null
  const plan = planSync(world, incoming)
  return plan.hopeless === null ? plan : null
}

export function planSync(world: World, incoming: IncomingReports, { needed = false } = {}): SyncPlan {
  const { sync } = world
  if (sync === null) return NO_SYNC
  if (sync.result !== 'clean') return blockSync(world, sync, `sync-${sync.result}`, describeObstacle(sync))
  if (isSyncSkipped(world)) return NO_SYNC
  if (sync.unread) return { ...NO_SYNC, steps: adoptSync(world, sync, null) }
  const order = findSyncOrder(world, incoming, sync)
  if (order.is === 'wanted' && !(needed || isSyncDue(world, sync))) return NO_SYNC
  const blocked = `the default branch moved to ${sync.tip.slice(0, 10)} and is being merged in`
  const next = order.is === 'answered' ? judgeSync(world, sync, order) : order
  if (Array.isArray(next)) return { steps: next, requests: [], blocked: null, hopeless: null }
  if (next.is === 'given up') {
    const message = `the default branch at ${sync.tip.slice(0, 10)} does not pass when merged with the incumbent: ${next.reason}`
    return blockSync(world, sync, 'sync-failed', message)
  }
  const requests = next.is === 'wanted' ? [buildSyncRequest(world, sync, next)] : []
  return { steps: [], requests, blocked: appendPostponement(blocked, next), hopeless: null }
}

/** The remote refused the push: rounds go on until a person has merged the default branch in. */
function isSyncSkipped({ campaign, sync }: Pick<World, 'campaign' | 'sync'>): boolean {
  if (sync?.result !== 'clean' || sync.byHand !== undefined) return false
  return findRefusedSyncAlert(campaign)?.tip === sync.tip
}

const DAY_MS = 24 * 3600 * 1000

/** Once a day, or at once if a person or an idea waits for it. */
function isSyncDue(world: World, sync: CleanSync): boolean {
  const { sync_ordered: last, alerts } = world.campaign
  if (last === null || Date.parse(world.now) - Date.parse(last.at) >= DAY_MS) return true
  if (last.pin === (sync.byHand ?? sync.to).commit) return true
  const obstacles: readonly string[] = SYNC_OBSTACLES
  if (sync.spec.changed || sync.byHand !== undefined) return true
  if (alerts.some(({ code }) => obstacles.includes(code))) return true
  return listExperiments(world.campaign).some(each => each.status === 'queued' && isAheadOfSync(world, each))
}

type CleanSync = Extract<SyncFacts, { result: 'clean' }>

/** Passes if its gates hold and its numbers are there, with the harness it brings. */
function judgeSync(world: World, sync: CleanSync, proof: AnsweredOrder): PlanStep[] | UnansweredOrder {
  const { order, report } = proof
  const input = { spec: sync.spec.parsed, order, report, label: 'sync', baseline: null } as const
  const { outcome, reason, retry } = assessCandidate(input)
  if (retry) return planNextAttempt(world, order.attempt, reason)
  const missing = explainMissingMean(report)
  if (missing !== null) return { is: 'given up', reason: missing }
  return outcome === 'eligible' ? adoptSync(world, sync, proof) : { is: 'given up', reason }
}

/** A measurement of winnow's own merge is valid for a person's, which has the same tree. */
function findSyncOrder(
  world: World,
  incoming: IncomingReports,
  sync: CleanSync,
): ReturnType<typeof findCampaignOrder> {
  const base = world.campaign.incumbent
  const findOrder = (merge: Point) =>
    findCampaignOrder(world, incoming, { purpose: 'sync', base, candidates: toSyncCandidates(merge) })
  const order = findOrder(sync.to)
  return sync.byHand === undefined || order.is === 'answered' ? order : findOrder(sync.byHand)
}

function toSyncCandidates({ commit: head, tree }: Point): OrderCandidate[] {
  return [{ label: 'sync', head, tree }]
}

type UnmergedSync = Exclude<SyncFacts, CleanSync>

export function describeObstacle(sync: UnmergedSync): string {
  return sync.result === 'conflict'
    ? `the default branch at ${sync.tip.slice(0, 10)} conflicts with the incumbent in ${sync.paths.slice(0, 5).join(', ')}: merge the optimize branch into the default branch, or resolve the conflict on the default branch, or start fresh`
    : `the spec on the default branch at ${sync.tip.slice(0, 10)} cannot be used: ${sync.message}`
}

/** Null where no obstacle exists. */
export function describeSyncState(sync: SyncFacts | null): string | null {
  return sync === null || sync.result === 'clean' ? null : describeObstacle(sync)
}

function blockSync(world: World, { tip }: SyncFacts, code: SyncObstacle, message: string): SyncPlan {
  const steps = raiseAlert(world, { code, about: tip, message })
  return { steps, requests: [], blocked: message, hopeless: code }
}

function buildSyncRequest(
  world: World,
  sync: CleanSync,
  { attempt, interrupted }: Pick<OrderRequest, 'attempt' | 'interrupted'>,
): OrderRequest {
  const { sha256: spec_sha256, parsed: spec } = sync.spec
  const pin = sync.byHand ?? sync.to
  return {
    purpose: 'sync',
    round: world.campaign.round?.number ?? 0,
    attempt,
    interrupted,
    cause: sync.tip,
    candidates: toSyncCandidates(pin),
    stop: { rule: 'alone' },
    ruler: { spec_sha256, harness: sync.harness, pin, spec },
  }
}

/** A sync that needs no measurement has a null order in the ledger. */
function adoptSync(world: World, sync: CleanSync, proof: AnsweredOrder | null): PlanStep[] {
  const cause = proof?.event ?? sync.tip
  const from = world.campaign.incumbent
  const { harness, byHand } = sync
  const to = byHand ?? sync.to
  const events: EventDraft[] = []
  if (sync.spec.changed) {
    const { sha256: spec_sha256, yaml: spec_yaml, private: hidden } = sync.spec
    const reason = `the spec changed on ${world.campaign.default_branch}`
    const amended = { kind: 'campaign-amended', cause, source: 'default-branch', reason } as const
    const visibility = hidden === undefined ? {} : { private_repository: hidden }
    events.push({ ...amended, spec_sha256, spec_yaml, harness, ...visibility })
  }
  const { tip: default_tip, tipTree: default_tree, holds } = sync
  const merged = { order: proof?.order.id ?? null, from, to, default_tip, default_tree, holds, harness }
  events.push(
    { kind: 'synced', cause, ...merged },
    { kind: 'incumbent-moved', cause, from, to, why: 'synced' },
  )
  if (proof !== null) events.push(buildSyncBaseline(sync, to, proof))
  return [{ step: 'move', from: byHand ?? from, to, events }]
}

function buildSyncBaseline(
  sync: CleanSync,
  to: Point,
  { order, report, event: cause }: AnsweredOrder,
): EventDraft {
  return {
    kind: 'baseline-measured',
    cause,
    order: order.id,
    side: 'sync',
    tree: to.tree,
    machine: buildMachineKey(report.machine),
    harness: sync.harness,
    snapshot: buildSnapshot(sync.spec.parsed, report, 'sync'),
  }
}

// Experiments that wait for a sync

/** Rounds go on without the default branch's tip: heads on top of it wait for a person, which is recorded. */
export function awaitRefusedSync(world: World): PlanStep[] {
  return isSyncSkipped(world)
    ? recordSyncWaits(world, 'sync-workflows', each => isAheadOfSync(world, each))
    : []
}

/** No round starts before a person has removed the obstacle, so every queued experiment waits. */
export function awaitBlockedSync(world: World, obstacle: SyncObstacle): PlanStep[] {
  return recordSyncWaits(world, obstacle, () => true)
}

/** Recorded once for each head: later commits on the default branch change nothing about it. */
function recordSyncWaits(
  world: World,
  obstacle: SyncObstacle,
  waits: (experiment: Experiment) => boolean,
): PlanStep[] {
  const { campaign } = world
  return listExperiments(campaign).flatMap(experiment => {
    const { id, head, status, awaits_sync: before } = experiment
    if (status !== 'queued' || head === null || needsPermission(world, id) || !waits(experiment)) return []
    if (before?.head === head && before.obstacle === obstacle) return []
    const cause = `asked at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle } }]
  })
}

/** The obstacle is gone without a sync: the default branch was reset or changed. */
export function endResolvedWaits(world: World): PlanStep[] {
  const { campaign } = world
  const goneWithout = isSyncSkipped(world)
  return listExperiments(campaign).flatMap(experiment => {
    const { id, head, awaits_sync: before } = experiment
    if (head === null || !isAwaitingSync(experiment)) return []
    // Assumed for a head that was not merged with the incumbent yet.
    const canBeAhead = !world.candidates.has(id) || isAheadOfSync(world, experiment)
    if (goneWithout && before?.obstacle === 'sync-workflows' && canBeAhead) return []
    const cause = `ended at ${campaign.seq}`
    return [{ step: 'event', draft: { kind: 'sync-awaited', cause, experiment: id, head, obstacle: null } }]
  })
}

export function describeNeededSync({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): string | null {
  const waiting = listExperiments(campaign).filter(isAwaitingSync)
  const obstacle = waiting[0]?.awaits_sync?.obstacle
  if (obstacle === undefined) return null
  const { optimize } = buildCampaignRefs(spec.branches.prefix, campaign.name)
  const { because, next } = describeSyncObstacle(campaign, { optimize: toShortRef(optimize), obstacle })
  const names = waiting.map(({ id, pull }) => (pull === null ? id : `${id} (#${pull})`)).join(', ')
  return `a sync, for ${names}: ${because}. Next step: ${next}`
}
