import { type ForgeError, isRefusal } from '../../errors.ts'
import { readTreeFile } from '../../git/tree.ts'
import { DISPATCH_REFUSED } from '../../model/alerts.ts'
import type { Campaign } from '../../model/campaign.ts'
import { type EventDraft, removeEnvelope } from '../../model/event.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { buildLandingMessage, renderLandingMessage } from '../../model/landing.ts'
import { toOneLine } from '../../model/text.ts'
import type { Plan, PlanAction } from '../../plan/action.ts'
import { isBadgeCurrent } from '../../report/charts.ts'
import { BADGE_FILE } from '../../report/ledger-views.ts'
import { type CampaignContext, type Memory, requireForge } from '../campaign/context.ts'
import { describeCheckedOut } from '../campaign/recover.ts'
import { readSpecForOrder } from '../jobs/job-clone.ts'
import type { ControllerContext, Observation } from '../observe/observe.ts'
import { planAhead } from './plan-ahead.ts'
import { recordAlert, reportRefusal } from './record.ts'
import { Transaction } from './transaction.ts'
import { completeLeftChecks } from './update-github.ts'

type ApplyResult =
  | { result: 'done' }
  /** The plan is void; observe again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: ApplyResult = { result: 'done' }

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
  const { context, memory } = controller
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
  return DONE
}

export async function startOrder(
  { context, runner }: ControllerContext,
  campaign: Campaign,
  id: OrderId,
): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order)
    await runner.dispatch(order, await readSpecForOrder(context.repository, campaign, order), campaign)
}

/** A person's pause, stop or resumption is an event without views; the next controller updates the views. */
async function renewOldViews(
  { context, memory }: ControllerContext,
  observation: Observation,
  transaction: Transaction,
) {
  const { tip } = observation.loaded
  const { status } = transaction.predictCampaign()
  if (memory.shown === status || tip.tree === null) return
  const badge = await readTreeFile(context.repository, tip.tree, BADGE_FILE)
  if (!isBadgeCurrent(badge ?? '', status)) transaction.renewViews()
  memory.shown = status
}

function toApplyResult(
  result: Awaited<ReturnType<CampaignContext['repository']['push']>>,
  unwritten: readonly EventDraft[],
): ApplyResult {
  if (result.ok) return DONE
  switch (result.reason) {
    case 'lease':
      return { result: 'lost', refs: result.refs, unwritten }
    case 'checked-out':
      return { result: 'held', what: `${describeCheckedOut(result)}: switch it to another branch` }
    case 'refused':
    case 'atomic-refused':
      return { result: 'held', what: `the remote refuses: ${result.message}` }
    default:
      return result satisfies never
  }
}

/** A refusal does not stop the other effects; the next tick finds this one missing and tries again. */
async function runEffect(
  controller: ControllerContext,
  observation: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  try {
    return await tryEffect(controller, observation, action)
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal(controller, error)
    if (action.do === 'dispatch') {
      rememberRefusedDispatch(controller.memory, action.order)
      await recordRefusedDispatch(controller, error)
    }
    return DONE
  }
}

async function tryEffect(
  controller: ControllerContext,
  { loaded: { campaign }, world: { spec } }: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  const { runner } = controller
  switch (action.do) {
    case 'dispatch':
      await startOrder(controller, campaign, action.order)
      return DONE
    case 'cancel':
      await runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(controller, campaign, action)
    case 'propose':
      for (const { who, mayCostUsd } of action.requests) runner.propose(who, { campaign, spec, mayCostUsd })
      return DONE
    case 'stop-asking':
      await runner.cancelProposers()
      return DONE
    case 'commit':
    case 'delete-branches':
    case 'advance-campaign-branch':
      return DONE
    default:
      return action satisfies never
  }
}

/** A refused dispatch is not repeated before the ledger has changed, so that a tick ends. */
function rememberRefusedDispatch(memory: Memory, order: OrderId): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.refused.tip !== tip) memory.refused = { tip, dispatches: new Set() }
  memory.refused.dispatches.add(order)
}

/** A later measurement clears the alert. */
async function recordRefusedDispatch(
  { context, memory }: ControllerContext,
  { message }: ForgeError,
): Promise<void> {
  const alerts = memory.loaded?.campaign.alerts ?? []
  if (await recordAlert(context, alerts, { code: DISPATCH_REFUSED, message, about: null })) memory.refs = null
}

/** The next observation reads the branch, so a lost answer loses no merge (invariant 7). */
async function askForMerge(
  { context, memory }: Pick<ControllerContext, 'context' | 'memory'>,
  campaign: Campaign,
  { number, experiment: id }: Extract<PlanAction, { do: 'merge' }>,
): Promise<ApplyResult> {
  const experiment = campaign.experiments[id]
  const head = experiment?.head ?? null
  if (!campaign.landing || !experiment || head === null) return DONE
  const texts = buildLandingMessage(campaign, { ...campaign.landing, experiment }, number)
  const [title = '', ...message] = renderLandingMessage(texts).split('\n')
  const merge = { head, title, message: message.join('\n').trim() }
  const answer = await requireForge(context).merge(number, merge)
  memory.refs = null
  if (answer.ok) return DONE
  const target = `#${number} (${id}) into ${toShortRef(context.refs.optimize)}`
  const reason = toOneLine(answer.message, 600)
  if (answer.why === 'moved') return { result: 'held', what: `GitHub did not merge ${target}: ${reason}` }
  const problem = `GitHub did not merge ${target}: ${reason} The next tick tries again.`
  const alert = { code: 'merge-refused', message: problem, about: `${id}: ${reason}` }
  await recordAlert(context, campaign.alerts, alert)
  return { result: 'held', what: problem }
}
