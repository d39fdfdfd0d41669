import type { EventDraft } from '../model/event.ts'
import type { Experiment } from '../model/experiment.ts'
import { envelopeOff } from '../model/event.ts'
import type { Action, Landed, Merged, Step, Waiting } from './action.ts'
import { unapprovedText } from './approvals.ts'
import { landsAtOnce, mergeOf } from './ending.ts'
import { pullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/**
 * A verdict that somebody else has to merge: the forge, or a person. What it says is in the ledger before anybody
 * is asked, so that the merge is known for what it is whoever is cut off in between (invariant 7).
 */
interface Due extends Merged {
  experiment: Experiment
  decided: EventDraft<'decided'>
}

function dueOf(world: World): Due | null {
  const { landing, experiments, orders } = world.campaign
  if (landing === null) return null
  const { decided } = landing
  const experiment = experiments[decided.experiment]
  const live = decided.order === null ? undefined : orders[decided.order]
  if (experiment?.status !== 'landing' || !live?.report) return null
  const measured = { order: live.order, report: live.report.report }
  const merge = mergeOf(world, { experiment, measured, cause: decided.cause })
  return merge && { experiment, decided: envelopeOff(decided), ...merge }
}

/** The numbers that serve from its merge on, where its one report settles them. */
export function dueBaseline(world: World): EventDraft<'baseline-measured'> | null {
  return dueOf(world)?.baseline ?? null
}

/** Invariant 1: it has landed where the tip is one commit on the recorded incumbent with exactly the measured tree. */
export function landedSteps(world: World): Landed[] {
  const due = dueOf(world)
  const { made } = world
  if (due === null || !made || world.optimizeTip?.commit !== made.commit) return []
  if (notApproved(world, due.experiment) !== null) return []
  const { experiment, decided: _, ...merge } = due
  const [first, ...others] = made.parents
  const itself = made.tree === merge.candidate.tree && first === world.campaign.incumbent.commit
  if (!itself || others.some(other => other !== merge.candidate.head)) return []
  const via = made.names === landedMark(world) ? 'api' : 'person'
  return [{ step: 'landed', experiment: experiment.id, commit: made.commit, via, ...merge }]
}

/** As the trailer of a landing names its verdict. */
function landedMark({ campaign: { landing } }: World): string | null {
  return landing && `${landing.decided.seq}:${landing.sha256}`
}

export interface LandingPlan {
  steps: Step[]
  actions: Action[]
  /** Nothing else begins meanwhile: it would be measured against what is about to be replaced. */
  waiting: Waiting
}

export function landingPlan(world: World): LandingPlan | null {
  const due = dueOf(world)
  if (due === null) return null
  const { experiment, decided, ...merge } = due
  const { spec } = world
  const barred = notApproved(world, experiment)
  if (barred !== null) {
    const waiting = awaits(`${experiment.id} is not to be merged: ${barred}`)
    return { steps: [withdrawn(experiment, barred)], actions: [], waiting }
  }
  if (landsAtOnce(spec)) {
    const landing = { step: 'land', decided, recorded: true, ...merge } as const
    return { steps: [landing], actions: [], waiting: awaits(`${experiment.id} is landing`) }
  }
  const pull = pullFinder(world)(experiment)
  if (pull?.state === 'merged') return mergedBefore(world, experiment, pull)
  const where = pull === undefined ? '' : ` (#${pull.number})`
  if (!spec.merge.auto) {
    const what = `${experiment.id}${where} is kept: merge it as it is, and the campaign goes on`
    return { steps: [], actions: [], waiting: awaits(what) }
  }
  const asked = pull !== undefined && !(experiment.owned && pull.draft === true)
  const actions: Action[] = asked ? [{ do: 'merge', number: pull.number, experiment: experiment.id }] : []
  return { steps: [], actions, waiting: awaits(`${experiment.id}${where} is to be merged`) }
}

const LAG_MS = 600_000

/** The branch may show it later than the pull request does; one that does not was moved away from that merge. */
function mergedBefore(world: World, experiment: Experiment, pull: PullFacts): LandingPlan {
  const since = Date.parse(world.now) - Date.parse(pull.closed_at ?? world.now)
  const waiting = awaits(`#${pull.number} is merged, and its branch does not show it yet`)
  if (since < LAG_MS) return { steps: [], actions: [], waiting }
  const reason = `its pull request #${pull.number} was merged, and the branch was moved away from that`
  return { steps: [withdrawn(experiment, reason)], actions: [], waiting }
}

function withdrawn({ id }: Experiment, reason: string): Step {
  return { step: 'close', experiment: id, outcome: 'withdrawn', reason, keep: true }
}

/** An amendment may take back what the spec approved, while its merge is somebody else's to make. */
function notApproved(world: World, experiment: Experiment): string | null {
  const packages = unapprovedText(world, experiment, world.candidates.get(experiment.id))
  return packages === null ? null : `it adds ${packages}, which is approved no more`
}

function awaits(what: string): Waiting {
  return { for: 'person', what }
}
