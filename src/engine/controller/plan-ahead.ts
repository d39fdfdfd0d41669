import { findSyncTip } from '../../model/alerts.ts'
import type { Plan, PlanAction } from '../../plan/action.ts'
import { planCampaign } from '../../plan/stages.ts'
import { type ControllerContext, type Observation, predictWorld } from '../observe/observe.ts'
import { writeSteps } from './steps.ts'
import type { Transaction } from './transaction.ts'

/** Limits how many plans, which need no new answers, go into one push. */
const MOST_PLANS = 12

/**
 * Writes a plan to the transaction, then plans again on the state that its push will bring, until a plan adds
 * no event. A verdict, the landing and the next round are thus one push. The prediction is a copy: the remote
 * may reject the push, and then nothing of it has happened. Returns the other actions of all plans.
 */
export async function planAhead(
  controller: ControllerContext,
  observation: Observation,
  transaction: Transaction,
  firstPlan: Plan,
): Promise<PlanAction[]> {
  const { repository } = controller.context
  const all = new Map<string, PlanAction>()
  let next = firstPlan
  for (let plans = 1; ; plans++) {
    const isSyncPush = repository.canPushWorkflows && hasSync(next)
    // The steps before it are pushed first. The next tick finds the sync again.
    if (isSyncPush && !transaction.isEmpty) return [...all.values()]
    for (const action of next.actions) {
      if (plans > 1 && action.do === 'propose') continue
      if (isSyncPush && MOVES_OTHER_BRANCHES.has(action.do)) continue
      await addMoves(transaction, plans > 1 ? keepShownBranches(controller, observation, action) : action)
      if (action.do !== 'commit') all.set(JSON.stringify(action), action)
    }
    const isLast = isSyncPush || plans === MOST_PLANS
    if (isLast || !next.actions.some(action => action.do === 'commit')) return [...all.values()]
    const refs = transaction.refsAfter()
    const campaign = transaction.predictCampaign()
    next = planCampaign(await predictWorld(controller, observation, { refs, campaign }))
  }
}

/** On GitHub a branch is deleted after its pull request shows the end. */
function keepShownBranches(
  { context: { forge } }: ControllerContext,
  { refs }: Observation,
  action: PlanAction,
): PlanAction {
  if (action.do !== 'delete-branches' || forge === null) return action
  return { ...action, branches: action.branches.filter(({ name }) => !refs.has(`refs/heads/${name}`)) }
}

/** These actions move other branches than the campaign's own. A later tick finds them again. */
const MOVES_OTHER_BRANCHES: ReadonlySet<PlanAction['do']> = new Set([
  'delete-branches',
  'advance-campaign-branch',
])

/** A sync is a push of its own: an App's token may have to push it, and moves no experiment. */
function hasSync({ actions }: Plan): boolean {
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  const drafts = steps.flatMap(step => {
    if (step.step === 'event') return [step.draft]
    return step.step === 'move' ? step.events : []
  })
  return findSyncTip(drafts) !== null
}

async function addMoves(transaction: Transaction, action: PlanAction): Promise<void> {
  switch (action.do) {
    case 'commit':
      return writeSteps(transaction, action.steps)
    case 'delete-branches':
      for (const { name } of action.branches) transaction.move(`refs/heads/${name}`, null)
      return
    case 'advance-campaign-branch':
      return transaction.move(transaction.context.refs.campaign, action.to)
    case 'dispatch':
    case 'cancel':
    case 'merge':
    case 'propose':
    case 'stop-asking':
      return
    default:
      return action satisfies never
  }
}
