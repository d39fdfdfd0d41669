import type { StagedChanges } from '../../github/port.ts'
import type { Campaign } from '../../model/campaign.ts'
import { removeEnvelope } from '../../model/event.ts'
import type { ExperimentId } from '../../model/ids.ts'
import type { Plan, PlanAction, PullChange } from '../../plan/action.ts'
import { isBadgeCurrent } from '../../report/charts.ts'
import { buildReplacedCheck } from '../../report/check-run.ts'
import { BADGE_FILE } from '../../report/ledger-views.ts'
import type { Observation } from '../observe/observe.ts'
import {
  type ApplyResult,
  type ControllerContext,
  runEffect,
  sortEffects,
  stageChanges,
  toApplyResult,
} from './effects.ts'
import { planAhead } from './plan-ahead.ts'
import { tryUpdateCheck, updateCheck } from './pull-texts.ts'
import { Transaction } from './transaction.ts'

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
  const planned = await planAhead(controller, observation, transaction, firstPlan)
  const actions = selectActions(planned, transaction)
  const campaign = transaction.predictCampaign()
  await renewOldViews(controller, observation, transaction)
  const staged = await stagePulls(controller, campaign, transaction, actions)
  const { shows: checked, others } = splitCheckUpdates(actions)
  for (const experiment of checked) await updateCheck(controller, campaign, experiment)
  for (const event of transaction.events) {
    if (event.kind !== 'head-moved' || event.from === null) continue
    await tryUpdateCheck(context, buildReplacedCheck(campaign, event.experiment, event.from))
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
  const accepted = { ...observation, loaded: memory.loaded ?? observation.loaded }
  for (const action of sortEffects(controller, others)) {
    context.faults.reach(`before:${action.do}`)
    const applied = await runEffect(controller, accepted, action)
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
  const { tip } = observation.loaded
  const { status } = transaction.predictCampaign()
  if (memory.shown === status || tip.tree === null) return
  const entry = await context.repository.findEntry(tip.tree, BADGE_FILE)
  const badge = entry?.type === 'blob' ? (await context.repository.blob(entry.oid)).toString('utf8') : ''
  if (!isBadgeCurrent(badge, status)) transaction.renewViews()
  memory.shown = status
}

/**
 * A local forge keeps pull requests in refs, which change in the same push. A landing marks its own as merged.
 */
async function stagePulls(
  { place: context }: ControllerContext,
  campaign: Campaign,
  transaction: Transaction,
  actions: readonly PlanAction[],
): Promise<StagedChanges | null> {
  const changes = actions.flatMap(action => (action.do === 'pulls' ? action.changes : []))
  if (changes.length === 0 && transaction.isEmpty) return null
  const staged = await stageChanges(context, campaign, changes, transaction)
  for (const { ref, to } of staged?.updates ?? []) transaction.move(ref, to)
  return staged
}
