import type { Campaign } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { OrderId } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import type { PlanAction } from '../plan/action.ts'
import { changePulls, commentPaused, writeCampaignPull, commentApprovalRequest } from './change-pulls.ts'
import { askForMerge } from './merge.ts'
import type { ObserverContext, Observation } from './observe.ts'
import { readSpecForOrder } from './order-spec.ts'
import type { CampaignContext } from './place.ts'

export interface ControllerContext extends ObserverContext {
  /** What people ask for in comments; true where the ledger is another one after it. */
  runComments?: (seen: Observation) => Promise<boolean>
}

export type ApplyResult =
  | { result: 'done' }
  /** Somebody else moved a ref first: the plan is void, look again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: ApplyResult = { result: 'done' }

/** What an action does besides moving refs, after the push that moved them was accepted. */
export async function executeEffect(
  hands: ControllerContext,
  seen: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  // As that push left it.
  const { campaign } = hands.memory.loaded ?? seen.loaded
  switch (action.do) {
    case 'dispatch':
      await dispatchOrder(hands, campaign, action.order)
      return DONE
    case 'cancel':
      await hands.runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(hands, campaign, action)
    case 'pulls':
      if (!hands.place.forge.stage) await changePulls(hands, campaign, action.changes)
      return DONE
    case 'campaign-pull':
      await writeCampaignPull(hands, campaign, action)
      return DONE
    case 'tell':
      await commentApprovalRequest(hands, campaign, action)
      return DONE
    case 'greet':
      await commentPaused(hands, campaign, action)
      return DONE
    case 'propose':
      for (const who of action.who)
        hands.asking.begin(who, { campaign: seen.loaded.campaign, spec: seen.world.spec })
      return DONE
    case 'stop-asking':
      await hands.asking.close()
      return DONE
    case 'commit':
    case 'delete-branches':
    case 'advance-campaign-branch':
      return DONE
    default:
      return action satisfies never
  }
}

/** What came of a push that was to carry these events. */
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
  { place, runner }: ControllerContext,
  campaign: Campaign,
  id: OrderId,
): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order) await runner.dispatch(order, await readSpecForOrder(place.repository, campaign, order), campaign)
}
