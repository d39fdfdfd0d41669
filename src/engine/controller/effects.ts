import { isRefusal } from '../../github/errors.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { EventDraft } from '../../model/event.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { buildLandingMessage, renderLandingMessage } from '../../model/landing.ts'
import { toOneLine } from '../../model/text.ts'
import type { PlanAction } from '../../plan/action.ts'
import { type CampaignContext, type Memory, requireForge } from '../campaign/context.ts'
import { readSpecForOrder } from '../jobs/load-order.ts'
import type { Observation, ObserverContext } from '../observe/observe.ts'
import { recordEvents, recordRefusalAlert, reportRefusal } from './record.ts'

export interface ControllerContext extends ObserverContext {
  /** Runs commands from comments. Returns true when the ledger has changed. */
  runComments?: (observation: Observation) => Promise<boolean>
}

export type ApplyResult =
  | { result: 'done' }
  /** The plan is void; observe again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: ApplyResult = { result: 'done' }

export async function executeEffect(
  controller: ControllerContext,
  observation: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  const { campaign } = controller.memory.loaded ?? observation.loaded
  switch (action.do) {
    case 'dispatch':
      await dispatchOrder(controller, campaign, action.order)
      return DONE
    case 'cancel':
      await controller.runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(controller, campaign, action)
    case 'propose':
      for (const proposer of action.who)
        controller.runner.propose(proposer, {
          campaign: observation.loaded.campaign,
          spec: observation.world.spec,
        })
      return DONE
    case 'stop-asking':
      await controller.runner.cancelProposers()
      return DONE
    case 'commit':
    case 'delete-branches':
    case 'advance-campaign-branch':
      return DONE
    default:
      return action satisfies never
  }
}

export function toApplyResult(
  result: Awaited<ReturnType<CampaignContext['repository']['push']>>,
  unwritten: readonly EventDraft[],
): ApplyResult {
  if (result.ok) return DONE
  switch (result.reason) {
    case 'lease':
      return { result: 'lost', refs: result.refs, unwritten }
    case 'checked-out':
      return {
        result: 'held',
        what: `${toShortRef(result.ref)} is checked out in ${result.worktree}: switch it to another branch`,
      }
    case 'refused':
    case 'atomic-refused':
      return { result: 'held', what: `the remote refuses: ${result.message}` }
    default:
      return result satisfies never
  }
}

async function dispatchOrder(
  { place: context, runner }: ControllerContext,
  campaign: Campaign,
  id: OrderId,
): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order)
    await runner.dispatch(order, await readSpecForOrder(context.repository, campaign, order), campaign)
}

/** A refusal does not stop the other effects; the next tick finds this one missing and tries again. */
export async function runEffect(
  controller: ControllerContext,
  observation: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  try {
    return await executeEffect(controller, observation, action)
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal(controller, error)
    if (action.do === 'dispatch') {
      rememberRefusedDispatch(controller.memory, action.order)
      await recordRefusalAlert(controller, error)
    }
    return { result: 'done' }
  }
}

/** A refused dispatch is not repeated before the ledger has changed, so that a tick ends. */
function rememberRefusedDispatch(memory: Memory, order: OrderId): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.refused.tip !== tip) memory.refused = { tip, dispatches: new Set() }
  memory.refused.dispatches.add(order)
}

const REFUSED = 'merge-refused'

/** The next observation reads the branch, so a lost answer loses no merge (invariant 7). */
async function askForMerge(
  { place: context, memory }: Pick<ControllerContext, 'place' | 'memory'>,
  campaign: Campaign,
  { number, experiment: id }: Extract<PlanAction, { do: 'merge' }>,
): Promise<ApplyResult> {
  const experiment = campaign.experiments[id]
  const head = experiment?.head ?? null
  if (!campaign.landing || !experiment || head === null) return { result: 'done' }
  const texts = buildLandingMessage(campaign, { ...campaign.landing, experiment }, number)
  const [title = '', ...message] = renderLandingMessage(texts).split('\n')
  const answer = await requireForge(context).merge(number, {
    head,
    title,
    message: message.join('\n').trim(),
  })
  memory.refs = null
  if (answer.ok) return { result: 'done' }
  const target = `#${number} (${id}) into ${toShortRef(context.refs.optimize)}`
  const reason = toOneLine(answer.message, 600)
  if (answer.why === 'moved') return { result: 'held', what: `GitHub did not merge ${target}: ${reason}` }
  const problem = `GitHub did not merge ${target}: ${reason} The next tick tries again.`
  const about = `${id}: ${reason}`
  if (!campaign.alerts.some(alert => alert.code === REFUSED && alert.about === about))
    await recordEvents(context, [{ kind: 'alert', code: REFUSED, message: problem, about }])
  return { result: 'held', what: problem }
}
