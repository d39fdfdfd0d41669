import { NO_MACHINE } from '../model/alerts.ts'
import type { LiveOrder } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { PickFate, UnopenedPull } from '../model/experiment.ts'
import type { ExperimentId, Oid, OrderId, Point } from '../model/ids.ts'
import type { CampaignPullState } from '../model/marks.ts'
import type { OrderCandidate } from '../model/order.ts'
import type { Outcome } from '../model/verdict.ts'
import type { World } from './world.ts'

/** What a plan asks for. Steps of one transaction become one atomic push, or nothing. */
export type PlanStep =
  | { step: 'event'; draft: EventDraft }
  /** The experiment's branch appears together with the event that opens it. */
  | { step: 'open'; draft: EventDraft<'experiment-opened'> }
  /** results.yaml on top of the head where we may write, the `closed` event; the head into the keeper only if
   * it passed scope and limits. */
  | {
      step: 'close'
      experiment: ExperimentId
      outcome: Outcome
      reason: string
      keep: boolean
      /** Of a pick that was offered. */
      fate?: PickFate
    }
  /** The default branch moved under a pick: it is made anew, and its branch with it. */
  | { step: 'make-anew'; draft: EventDraft<'head-moved'>; branch: string }
  /** The decided event, the landing commit that names it, results, `merged` and `incumbent-moved`. */
  | LandStep
  /** What follows from the merge that somebody else has made of it: results, `merged` and `incumbent-moved`. */
  | LandedStep
  /** The optimize branch moves to a commit that is proven by the events of this same transaction. */
  | { step: 'move'; from: Point | null; to: Point; events: EventDraft[] }
  /** A commit on the incumbent with this tree, then as `move`. */
  | { step: 'revert'; experiment: ExperimentId; tree: Oid; from: Point; measuredIn: OrderId; cause: string }
  /** Keeps commits that nothing else will hold. */
  | { step: 'keep'; heads: Oid[] }

export interface LandStep extends MergeFacts {
  step: 'land'
  decided: EventDraft<'decided'>
  /** The decided event stands in the ledger already. */
  recorded?: true
}

export interface LandedStep extends MergeFacts {
  step: 'landed'
  experiment: ExperimentId
  commit: Oid
  via: NonNullable<EventDraft<'merged'>['via']>
}

/** What a landing makes of the campaign, whoever writes its commit. */
export interface MergeFacts {
  candidate: OrderCandidate
  base: Point
  pull: number | null
  /** Undoing this earlier landing, when the experiment is a revert. */
  undoes: ExperimentId | null
  baseline: EventDraft<'baseline-measured'> | null
}

export type PlanAction =
  | { do: 'commit'; steps: PlanStep[] }
  | { do: 'dispatch'; order: OrderId }
  | { do: 'cancel'; order: OrderId }
  /** The forge merges the head of a pull request, which is what the campaign's verdict is about. */
  | { do: 'merge'; number: number; experiment: ExperimentId }
  | { do: 'pulls'; changes: PullChange[] }
  | { do: 'delete-branches'; branches: { name: string; oid: Oid }[] }
  /** The campaign's own pull request: opened where there is none, else brought up to date, or made ready. */
  | { do: 'campaign-pull'; number: number | null; ready: boolean; shows?: CampaignPullState }
  /**
   * What waits for an approval is told there, where people get mail: each experiment once, however its set changes.
   * `here`: it is the experiment's own pull request.
   */
  | { do: 'tell'; number: number; experiment: ExperimentId; here?: true }
  /** Somebody's pull request, which nothing is made of while the campaign stands still, is told so. */
  | ({ do: 'greet' } & UnopenedPull)
  | { do: 'advance-campaign-branch'; from: Oid | null; to: Oid }
  /** One more idea from each, asked at once; a name may come more than once. */
  | { do: 'propose'; who: string[] }
  | { do: 'stop-asking' }

/** Words are the report room's business: a change says only which pull request and which experiment. */
export type PullChange =
  | { change: 'open'; experiment: ExperimentId; branch: string }
  /** What it says has changed since it was written. */
  | { change: 'describe'; number: number; experiment: ExperimentId }
  /** Only how its head stands has to be shown. */
  | { change: 'show'; experiment: ExperimentId }
  /** `again`: somebody opened it again with this head, and is told why it is closed. */
  | { change: 'close'; number: number; experiment: ExperimentId; again?: Oid }

/** What nothing can be done about until something else happens. */
export type PlanWaiting =
  | { for: 'orders'; orders: OrderId[] }
  /** What was measured is to be scored; why models could not be asked the last time, where they could not. */
  | { for: 'judges'; orders: OrderId[]; reason: string | null }
  /** Programs that this process is asking for ideas. */
  | { for: 'proposers'; who: string[] }
  /** `disabled`: proposers that are not asked again before a person resumes, where there are some. */
  | { for: 'ideas'; disabled?: string[] }
  /** Ideas that are there and may not be opened yet. */
  | { for: 'limit'; what: string }
  /** `astray`: the optimize branch is not where the ledger says, and must not be merged as it is. */
  | { for: 'person'; what: string; astray?: true }
  /** `ideas`: new ones that a stopped campaign has not taken in, where there are some. */
  | { for: 'nothing'; reason: string; ideas?: number }

export interface Plan {
  actions: PlanAction[]
  waiting: PlanWaiting | null
}

/** An alert is raised once for one thing: the ledger remembers which. */
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

/** How long a run elsewhere may wait for a machine: there nobody waits for this one, and nothing runs twice. */
export const QUEUED_ELSEWHERE_SECONDS = 24 * 3600

const ACTIONS_RUN_ID = /^actions:(\d+)\//

/** Says once for each run that its job cannot be measuring alone: everything could have run into its timeout by now. */
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
    `workflow run ${run} has brought no report since ${issued_at}: its job probably waits for a machine. ` +
    'Look at the run: a runner with the labels that it asks for has to be online. ' +
    `Nothing is lost: after ${order.deadline} it is measured in another run`
  return raiseAlert(world, { code: NO_MACHINE, about: run_id, message })
}
