import type { StagedChanges } from '../../github/port.ts'
import { findSyncTip } from '../../model/alerts.ts'
import { removeEnvelope } from '../../model/event.ts'
import type { ExperimentId } from '../../model/ids.ts'
import type { Plan, PlanAction, PullChange } from '../../plan/action.ts'
import { planCampaign } from '../../plan/stages.ts'
import { isBadgeCurrent } from '../../report/charts.ts'
import { buildReplacedCheck } from '../../report/check-run.ts'
import { BADGE_FILE } from '../../report/ledger-views.ts'
import { type Observation, predictWorld } from '../observe/observe.ts'
import {
  type ApplyResult,
  type ControllerContext,
  runEffect,
  sortEffects,
  stageChanges,
  toApplyResult,
} from './effects.ts'
import { tryUpdateCheck, updateCheck } from './pull-texts.ts'
import { writeSteps } from './steps.ts'
import { Transaction } from './transaction.ts'

/** Limits how many follow-up plans, which need no new answers, go into one push. */
const MOST_PLANS = 12

/**
 * Applies a plan. One push carries every ref move: the transaction, the plans that follow from it as if it had
 * been accepted, and the cleanup of the previous one. The effects come after it. A later observation finds
 * interrupted effects again (invariants 7 and 9).
 */
export async function applyPlan(
  controller: ControllerContext,
  observation: Observation,
  firstPlan: Plan,
): Promise<ApplyResult> {
  const { place: context, memory } = controller
  const transaction = new Transaction(context, { loaded: observation.loaded, refs: observation.refs })
  const actions = selectActions(
    await planUntilStable(controller, observation, transaction, firstPlan),
    transaction,
  )
  await renewOldViews(controller, observation, transaction)
  const staged = await stagePulls(controller, observation, transaction, actions)
  const { shows: checked, others } = splitCheckUpdates(actions)
  for (const experiment of checked) await updateCheck(controller, observation.loaded.campaign, experiment)
  for (const event of transaction.events) {
    if (event.kind !== 'head-moved' || event.from === null) continue
    await tryUpdateCheck(
      context,
      buildReplacedCheck(observation.loaded.campaign, event.experiment, event.from),
    )
  }
  if (!transaction.isEmpty) {
    context.faults.reach('before:commit')
    const result = await transaction.push()
    if (!result.ok) return toApplyResult(result, transaction.events.map(removeEnvelope))
    staged?.accepted()
    memory.refs = transaction.refsAfter(() => true).refs
    memory.loaded = await transaction.loaded()
    context.faults.reach('after:commit')
  }
  for (const action of sortEffects(controller, others)) {
    context.faults.reach(`before:${action.do}`)
    const applied = await runEffect(controller, observation, action)
    if (applied.result !== 'done') return applied
    context.faults.reach(`after:${action.do}`)
  }
  return { result: 'done' }
}

/**
 * Merges the pull request changes of all plans of a tick, so that each is written once. A later plan may have
 * refused an experiment that an earlier one opened: its branch is never pushed, so no pull request is opened
 * for it.
 */
function selectActions(actions: readonly PlanAction[], transaction: Transaction): PlanAction[] {
  const all = actions.flatMap(action => (action.do === 'pulls' ? action.changes : []))
  const isThere = (change: PullChange) =>
    change.change !== 'open' || transaction.tip(`refs/heads/${change.branch}`) !== null
  const wanted = new Map(all.filter(isThere).map(change => [JSON.stringify(change), change]))
  const kinds = actions.map(action => action.do)
  return actions.flatMap((action, index): PlanAction[] => {
    if (action.do === 'campaign-pull') return kinds.lastIndexOf(action.do) === index ? [action] : []
    if (action.do !== 'pulls') return [action]
    const isFirst = kinds.indexOf(action.do) === index
    return isFirst && wanted.size > 0 ? [{ do: 'pulls', changes: [...wanted.values()] }] : []
  })
}

/**
 * A check of a head that this push replaces is updated before the push, because no later observation finds
 * that head. After an interruption the next tick decides the same and updates it again.
 */
function splitCheckUpdates(actions: readonly PlanAction[]): { shows: ExperimentId[]; others: PlanAction[] } {
  const checked: ExperimentId[] = []
  const others = actions.flatMap((action): PlanAction[] => {
    if (action.do !== 'pulls') return [action]
    const changes = action.changes.filter(({ change }) => change !== 'show')
    const shown = action.changes.filter(({ change }) => change === 'show')
    checked.push(...shown.map(({ experiment }) => experiment))
    return changes.length === 0 ? [] : [{ ...action, changes }]
  })
  return { shows: [...new Set(checked)], others }
}

/**
 * A person's pause, stop or resumption is written as an event without views. The next controller updates the
 * views once.
 */
async function renewOldViews(
  { place: context, memory }: ControllerContext,
  observation: Observation,
  transaction: Transaction,
) {
  const { tip, campaign } = observation.loaded
  if (memory.shown === campaign.status || tip.tree === null) return
  const entry = await context.repository.findEntry(tip.tree, BADGE_FILE)
  const badge = entry?.type === 'blob' ? (await context.repository.blob(entry.oid)).toString('utf8') : ''
  if (!isBadgeCurrent(badge, campaign.status)) transaction.renewViews()
  memory.shown = campaign.status
}

/** Plans again on the predicted world until a plan adds no commit. */
async function planUntilStable(
  controller: ControllerContext,
  observation: Observation,
  transaction: Transaction,
  firstPlan: Plan,
): Promise<PlanAction[]> {
  const { repository } = controller.place
  const all = new Map<string, PlanAction>()
  let next = firstPlan
  for (let plans = 1; ; plans++) {
    const isSyncPush = repository.canPushWorkflows && hasSync(next)
    // The steps before it are pushed first. The next tick finds the sync again.
    if (isSyncPush && !transaction.isEmpty) return [...all.values()]
    for (const action of next.actions) {
      if (plans > 1 && action.do === 'propose') continue
      if (isSyncPush && MOVES_OTHER_BRANCHES.has(action.do)) continue
      await addMoves(transaction, observation, action)
      if (action.do !== 'commit') all.set(JSON.stringify(action), action)
    }
    const isLast = isSyncPush || plans === MOST_PLANS
    if (isLast || !next.actions.some(action => action.do === 'commit')) return [...all.values()]
    next = planCampaign(await predictWorld(controller, observation, transaction.refsAfter(() => true).refs))
  }
}

/** These actions move other branches than the campaign's own. A later tick finds them again. */
const MOVES_OTHER_BRANCHES: ReadonlySet<PlanAction['do']> = new Set([
  'delete-branches',
  'advance-campaign-branch',
])

/**
 * A sync that an App's token may have to push is a push of its own, because that token moves no branch of an
 * experiment.
 */
function hasSync({ actions }: Plan): boolean {
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  const drafts = steps.flatMap(step => {
    if (step.step === 'event') return [step.draft]
    return step.step === 'move' ? step.events : []
  })
  return findSyncTip(drafts) !== null
}

async function addMoves(
  transaction: Transaction,
  observation: Observation,
  action: PlanAction,
): Promise<void> {
  switch (action.do) {
    case 'commit':
      return writeSteps(transaction, observation.loaded.campaign, action.steps)
    case 'delete-branches':
      for (const { name } of action.branches) transaction.move(`refs/heads/${name}`, null)
      return
    case 'advance-campaign-branch':
      return transaction.move(transaction.context.refs.campaign, action.to)
    case 'dispatch':
    case 'cancel':
    case 'merge':
    case 'pulls':
    case 'campaign-pull':
    case 'tell':
    case 'greet':
    case 'propose':
    case 'stop-asking':
      return
    default:
      return action satisfies never
  }
}

/**
 * A local forge keeps pull requests in refs, which change in the same push. A landing marks its own as merged.
 */
async function stagePulls(
  { place: context }: ControllerContext,
  observation: Observation,
  transaction: Transaction,
  actions: readonly PlanAction[],
): Promise<StagedChanges | null> {
  const changes = actions.flatMap(action => (action.do === 'pulls' ? action.changes : []))
  if (changes.length === 0 && transaction.isEmpty) return null
  const staged = await stageChanges(context, observation.loaded.campaign, changes, transaction)
  for (const { ref, to } of staged?.updates ?? []) transaction.move(ref, to)
  return staged
}
