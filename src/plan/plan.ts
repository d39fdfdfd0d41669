import type { Action, Plan, Waiting } from './action.ts'
import { arrivals } from './arrivals.ts'
import { lostAskings } from './asked-elsewhere.ts'
import { answered } from './asking.ts'
import { astrayPlan } from './astray.ts'
import { closedIdeas } from './backlog.ts'
import { approvalActions, campaignPullActions, campaignPullSteps } from './campaign-pull.ts'
import { alsoDo, conclude, type Draft } from './draft.ts'
import { greetings } from './greetings.ts'
import { followHeads } from './heads.ts'
import { lostJudgings, toldScores } from './judged-elsewhere.ts'
import { landedSteps } from './landing.ts'
import { pickFates } from './pick-fates.ts'
import { pickPullActions } from './pick-pulls.ts'
import { pullActions } from './pulls.ts'
import { mergedSteps } from './restart.ts'
import { running } from './running.ts'
import { stopped } from './stopping.ts'
import type { World } from './world.ts'

/**
 * One look at the world, one plan: at most one transaction and what may follow it. It never relies on what an
 * earlier plan intended; whatever is left to do is found again at the next look (invariant 7).
 */
export function plan(world: World): Plan {
  const found = arrivals(world)
  const draft: Draft = {
    world,
    found,
    steps: [
      ...answered(world),
      ...lostAskings(world),
      ...toldScores(world),
      ...lostJudgings(world),
      ...closedIdeas(world),
      ...found.steps,
    ],
    actions: [
      ...found.actions,
      ...pullActions(world),
      ...pickPullActions(world),
      ...campaignPullActions(world),
      ...approvalActions(world),
    ],
  }
  const { status, status_reason } = world.campaign
  const taken = [...campaignPullSteps(world), ...mergedSteps(world)]
  if (taken.length > 0) return conclude(draft, taken)
  const landed = landedSteps(world)
  if (landed.length > 0) return conclude(draft, landed)
  const fates = pickFates(world)
  if (fates.steps.length > 0) return conclude(alsoDo(draft, fates.actions), fates.steps)
  switch (status) {
    case 'none':
      return { actions: [], waiting: { for: 'nothing', reason: 'no campaign was started' } }
    case 'stopped':
      return stopped(draft)
    case 'paused':
      return standing(draft, pausedText(world, status_reason))
    case 'running':
      return running(draft)
    default:
      return status satisfies never
  }
}

function pausedText(world: World, reason: string | null): Waiting {
  const { waiting } = isKnownForeign(world) ? { waiting: null } : astrayPlan(world)
  const paused = `the campaign is paused: ${reason}`
  if (waiting?.for !== 'person') return { for: 'person', what: paused }
  return { ...waiting, what: `${paused}. Besides, ${waiting.what}` }
}

/** The campaign may be paused for it. */
function isKnownForeign({ astray, campaign: { foreign } }: World): boolean {
  return astray?.is === 'foreign' && foreign?.to.commit === astray.tip.commit
}

/** Nothing begins; what people do is taken note of all the same, where it was not a refused push that paused. */
function standing(draft: Draft, waiting: Waiting): Plan {
  const { world } = draft
  const heads = world.campaign.status_source === 'person' ? followHeads(world) : { steps: [], actions: [] }
  return conclude(
    alsoDo(draft, [...holdBack(draft), ...heads.actions, ...greetings(world)]),
    heads.steps,
    waiting,
  )
}

/** What is being measured ends; what only waits for its turn is dispatched anew when the campaign goes on. */
function holdBack({ world }: Draft): Action[] {
  const waiting = [...world.runs].filter(([, run]) => run.state === 'waiting')
  return waiting.map(([order]) => ({ do: 'cancel', order }))
}
