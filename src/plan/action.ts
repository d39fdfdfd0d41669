import { NO_MACHINE } from '../model/alerts.ts'
import type { LiveOrder } from '../model/campaign.ts'
import type { SyncObstacle } from '../model/event-schemas.ts'
import type { EventDraft } from '../model/event.ts'
import type { PickEnd } from '../model/experiment.ts'
import type { ExperimentId, Oid, OrderId, Point } from '../model/ids.ts'
import type { OrderCandidate } from '../model/order.ts'
import type { Outcome } from '../model/verdict.ts'
import type { World } from './world.ts'

/** All steps of a transaction are one atomic push: either all of them take effect, or none. */
export type PlanStep =
  | { step: 'event'; draft: EventDraft }
  /** Creates the experiment's branch in the same push as the event that opens it. */
  | { step: 'open'; draft: EventDraft<'experiment-opened'> }
  /** Writes results.yaml and the `closed` event. `keep`: the head passed scope and limits. */
  | {
      step: 'close'
      experiment: ExperimentId
      outcome: Outcome
      reason: string
      keep: boolean
      pick_end?: PickEnd
    }
  /** The default branch moved under a pick: rebuilds its commit and its branch. */
  | { step: 'rebuild-pick'; draft: EventDraft<'head-moved'>; branch: string }
  /** Writes the decided event, the landing commit that names it, results, `merged` and `incumbent-moved`. */
  | LandStep
  /** Records a merge that GitHub or a person made: results, `merged` and `incumbent-moved`. */
  | LandedStep
  /** Moves the optimize branch to a commit that the events of this same transaction prove. */
  | { step: 'move'; from: Point | null; to: Point; events: EventDraft[] }
  /** Commits this tree on the incumbent, then moves the branch. */
  | { step: 'revert'; experiment: ExperimentId; tree: Oid; from: Point; measuredIn: OrderId; cause: string }
  /** Keeps commits reachable that no branch will hold. */
  | { step: 'keep'; heads: Oid[] }

export interface LandStep extends MergeFacts {
  step: 'land'
  decided: EventDraft<'decided'>
  /** The ledger already has the decided event. */
  recorded?: true
}

export interface LandedStep extends MergeFacts {
  step: 'landed'
  experiment: ExperimentId
  commit: Oid
  via: NonNullable<EventDraft<'merged'>['via']>
}

/** Facts of a landing, no matter whether winnow, GitHub or a person makes its commit. */
export interface MergeFacts {
  candidate: OrderCandidate
  base: Point
  pull: number | null
  /** The earlier landing that this one undoes, when the experiment is a revert. */
  undoes: ExperimentId | null
  baseline: EventDraft<'baseline-measured'> | null
}

export type PlanAction =
  | { do: 'commit'; steps: PlanStep[] }
  | { do: 'dispatch'; order: OrderId }
  | { do: 'cancel'; order: OrderId }
  /** GitHub merges the head of a pull request, which is the commit that the campaign's verdict is about. */
  | { do: 'merge'; number: number; experiment: ExperimentId }
  | { do: 'delete-branches'; branches: { name: string; oid: Oid }[] }
  | { do: 'advance-campaign-branch'; from: Oid | null; to: Oid }
  /** Asks each proposer for one more idea, all at once. `mayCostUsd`: the most that its models may cost. */
  | { do: 'propose'; requests: { who: string; mayCostUsd: number | null }[] }
  | { do: 'stop-asking' }

/** An empty plan waits for one of these. */
export type PlanWaiting =
  | { for: 'orders'; orders: OrderId[] }
  /** Printed output waits for scores. `reason`: why the last request to models failed; null if none did. */
  | { for: 'judges'; orders: OrderId[]; reason: string | null }
  | { for: 'proposers'; who: string[] }
  /** `disabled`: proposers that winnow does not ask again before a person resumes the campaign. */
  | { for: 'ideas'; disabled?: string[] }
  | { for: 'limit'; what: string }
  /** `astray`: the optimize branch is not where the ledger says, and must not be merged as it is. */
  | { for: 'person'; what: string; astray?: true }
  /** `ideas`: number of new ones that a stopped campaign has not opened; absent if there are none. */
  | { for: 'nothing'; reason: string; ideas?: number }

export interface Plan {
  actions: PlanAction[]
  waiting: PlanWaiting | null
  /** Why a running campaign cannot open new ideas; texts on GitHub name it. */
  obstacle?: SyncObstacle
}

/** Raises an alert once for each code and subject: the ledger remembers those raised before. */
export function raiseAlert(
  world: World,
  alert: { code: string; about: string | null; message: string },
): PlanStep[] {
  const known = world.campaign.alerts.some(({ code, about }) => code === alert.code && about === alert.about)
  if (known) return []
  return [{ step: 'event', draft: { kind: 'alert', cause: alert.about ?? world.campaign.started, ...alert } }]
}

export function pauseCampaignOnce(world: World, reason: string): PlanStep[] {
  if (world.campaign.status !== 'running') return []
  const cause = `pause at ${world.campaign.seq}`
  return [{ step: 'event', draft: { kind: 'campaign-paused', cause, reason, source: 'engine' } }]
}

/** Time that a run on GitHub may wait for a machine. That wait blocks no process, and no order runs twice. */
export const QUEUED_ELSEWHERE_SECONDS = 24 * 3600

const ACTIONS_RUN_ID = /^actions:(\d+)\//

/** Alerts once for each run whose job would have ended by now, even if everything in it timed out. */
export function reportWaitingRun(
  world: World,
  { order, run_id, issued_at }: LiveOrder,
  planned: readonly PlanStep[],
): PlanStep[] {
  const elsewhere = world.runner.runId === null
  const measured = Date.parse(order.deadline) - 1000 * QUEUED_ELSEWHERE_SECONDS
  const run = ACTIONS_RUN_ID.exec(run_id ?? '')?.[1]
  if (!elsewhere || run_id === null || run === undefined || Date.parse(world.now) < measured) return []
  const isPlanned = planned.some(
    step => step.step === 'event' && step.draft.kind === 'alert' && step.draft.about === run_id,
  )
  if (isPlanned) return []
  const message =
    `workflow run ${run} has not delivered a report since ${issued_at}: its job probably waits for a machine. ` +
    'Look at the run: a runner with the labels that it asks for has to be online. ' +
    `Nothing is lost: after ${order.deadline} it is measured in another run`
  return raiseAlert(world, { code: NO_MACHINE, about: run_id, message })
}
