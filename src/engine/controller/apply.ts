import { removeEnvelope } from '../../model/event.ts'
import type { Plan } from '../../plan/action.ts'
import { isBadgeCurrent } from '../../report/charts.ts'
import { BADGE_FILE } from '../../report/ledger-views.ts'
import type { Observation } from '../observe/observe.ts'
import { type ApplyResult, type ControllerContext, runEffect, toApplyResult } from './effects.ts'
import { planAhead } from './plan-ahead.ts'
import { Transaction } from './transaction.ts'
import { completeLeftChecks } from './update-github.ts'

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
  const actions = await planAhead(controller, observation, transaction, firstPlan)
  await renewOldViews(controller, observation, transaction)
  await completeLeftChecks(controller, transaction.predictCampaign(), transaction.events)
  if (!transaction.isEmpty) {
    context.faults.reach('before:commit')
    const result = await transaction.push()
    if (!result.ok) return toApplyResult(result, transaction.events.map(removeEnvelope))
    memory.refs = transaction.refsAfter()
    memory.loaded = await transaction.loaded()
    context.faults.reach('after:commit')
  }
  const accepted = { ...observation, loaded: memory.loaded ?? observation.loaded }
  for (const action of actions) {
    context.faults.reach(`before:${action.do}`)
    const applied = await runEffect(controller, accepted, action)
    if (applied.result !== 'done') return applied
    context.faults.reach(`after:${action.do}`)
  }
  return { result: 'done' }
}

/** A person's pause, stop or resumption is an event without views; the next controller updates the views. */
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
