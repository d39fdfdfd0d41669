import type { EventDraft } from '../model/event.ts'
import type { Experiment } from '../model/experiment.ts'
import { removeEnvelope } from '../model/event.ts'
import type { PlanAction, LandedStep, MergeFacts, PlanStep, PlanWaiting } from './action.ts'
import { describeUnapproved } from './approvals.ts'
import { isLandedDirectly, buildMerge } from './ending.ts'
import { createPullFinder } from './pull-of.ts'
import type { PullFacts, World } from './world.ts'

/**
 * A verdict that somebody else has to merge: the forge, or a person. What it says is in the ledger before anybody
 * is asked, so that the merge is known for what it is whoever is cut off in between (invariant 7).
 */
interface DueMerge extends MergeFacts {
  experiment: Experiment
  decided: EventDraft<'decided'>
}

function findDueMerge(world: World): DueMerge | null {
  const { landing, experiments, orders } = world.campaign
  if (landing === null) return null
  const { decided } = landing
  const experiment = experiments[decided.experiment]
  const live = decided.order === null ? undefined : orders[decided.order]
  if (experiment?.status !== 'landing' || !live?.report) return null
  const measured = { order: live.order, report: live.report.report }
  const merge = buildMerge(world, { experiment, measured, cause: decided.cause })
  return merge && { experiment, decided: removeEnvelope(decided), ...merge }
}

/** The numbers that serve from its merge on, where its one report settles them. */
export function findDueBaseline(world: World): EventDraft<'baseline-measured'> | null {
  return findDueMerge(world)?.baseline ?? null
}

/** Invariant 1: it has landed where the tip is one commit on the recorded incumbent with exactly the measured tree. */
export function recordLandedMerge(world: World): LandedStep[] {
  const due = findDueMerge(world)
  const { mergeCommit: made } = world
  if (due === null || !made || world.optimizeTip?.commit !== made.commit) return []
  if (explainLapsedApproval(world, due.experiment) !== null) return []
  const { experiment, decided: _, ...merge } = due
  const [first, ...others] = made.parents
  const itself = made.tree === merge.candidate.tree && first === world.campaign.incumbent.commit
  if (!itself || others.some(other => other !== merge.candidate.head)) return []
  const via = made.names === formatVerdictReference(world) ? 'api' : 'person'
  return [{ step: 'landed', experiment: experiment.id, commit: made.commit, via, ...merge }]
}

/** As the trailer of a landing names its verdict. */
function formatVerdictReference({ campaign: { landing } }: World): string | null {
  return landing && `${landing.decided.seq}:${landing.sha256}`
}

export interface LandingPlan {
  steps: PlanStep[]
  actions: PlanAction[]
  /** Nothing else begins meanwhile: it would be measured against what is about to be replaced. */
  waiting: PlanWaiting
}

export function planLanding(world: World): LandingPlan | null {
  const due = findDueMerge(world)
  if (due === null) return null
  const { experiment, decided, ...merge } = due
  const { spec } = world
  const barred = explainLapsedApproval(world, experiment)
  if (barred !== null) {
    const waiting = waitForPerson(`${experiment.id} is not to be merged: ${barred}`)
    return { steps: [buildWithdrawStep(experiment, barred)], actions: [], waiting }
  }
  if (isLandedDirectly(spec)) {
    const landing = { step: 'land', decided, recorded: true, ...merge } as const
    return { steps: [landing], actions: [], waiting: waitForPerson(`${experiment.id} is landing`) }
  }
  const pull = createPullFinder(world)(experiment)
  if (pull?.state === 'merged') return handleEarlierMerge(world, experiment, pull)
  const where = pull === undefined ? '' : ` (#${pull.number})`
  if (!spec.merge.auto) {
    const what = `${experiment.id}${where} is kept: merge it as it is, and the campaign goes on`
    return { steps: [], actions: [], waiting: waitForPerson(what) }
  }
  const asked = pull !== undefined && !(experiment.owned && pull.draft === true)
  const actions: PlanAction[] = asked ? [{ do: 'merge', number: pull.number, experiment: experiment.id }] : []
  return { steps: [], actions, waiting: waitForPerson(`${experiment.id}${where} is to be merged`) }
}

const MERGE_LAG_MS = 600_000

/** The branch may show it later than the pull request does; one that does not was moved away from that merge. */
function handleEarlierMerge(world: World, experiment: Experiment, pull: PullFacts): LandingPlan {
  const since = Date.parse(world.now) - Date.parse(pull.closed_at ?? world.now)
  const waiting = waitForPerson(`#${pull.number} is merged, and its branch does not show it yet`)
  if (since < MERGE_LAG_MS) return { steps: [], actions: [], waiting }
  const reason = `its pull request #${pull.number} was merged, and the branch was moved away from that`
  return { steps: [buildWithdrawStep(experiment, reason)], actions: [], waiting }
}

function buildWithdrawStep({ id }: Experiment, reason: string): PlanStep {
  return { step: 'close', experiment: id, outcome: 'withdrawn', reason, keep: true }
}

/** An amendment may take back what the spec approved, while its merge is somebody else's to make. */
function explainLapsedApproval(world: World, experiment: Experiment): string | null {
  const packages = describeUnapproved(world, experiment, world.candidates.get(experiment.id))
  return packages === null ? null : `it adds ${packages}, which is approved no more`
}

function waitForPerson(what: string): PlanWaiting {
  return { for: 'person', what }
}
