import type { Campaign } from '../model/campaign.ts'
import type { EventDraft } from '../model/event.ts'
import type { OrderId } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import type { Action } from '../plan/action.ts'
import { changePulls, greet, showCampaignPull, tell } from './change-pulls.ts'
import { askForMerge } from './merge.ts'
import type { Eyes, Observation } from './observe.ts'
import { orderSpec } from './order-spec.ts'
import type { Place } from './place.ts'

export interface Hands extends Eyes {
  /** What people ask for in comments; true where the ledger is another one after it. */
  heed?: (seen: Observation) => Promise<boolean>
}

export type Applied =
  | { result: 'done' }
  /** Somebody else moved a ref first: the plan is void, look again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: Applied = { result: 'done' }

/** What an action does besides moving refs, after the push that moved them was accepted. */
export async function takeEffect(hands: Hands, seen: Observation, action: Action): Promise<Applied> {
  // As that push left it.
  const { campaign } = hands.memory.loaded ?? seen.loaded
  switch (action.do) {
    case 'dispatch':
      await dispatch(hands, campaign, action.order)
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
      await showCampaignPull(hands, campaign, action)
      return DONE
    case 'tell':
      await tell(hands, campaign, action)
      return DONE
    case 'greet':
      await greet(hands, campaign, action)
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
export function appliedOf(
  result: Awaited<ReturnType<Place['repository']['push']>>,
  unwritten: readonly EventDraft[],
): Applied {
  if (result.ok) return DONE
  switch (result.reason) {
    case 'lease':
      return { result: 'lost', refs: result.refs, unwritten }
    case 'checked-out':
      return {
        result: 'held',
        what: `${shortRef(result.ref)} is checked out in ${result.worktree}: switch it to another branch`,
      }
    case 'refused':
    case 'atomic-refused':
      return { result: 'held', what: `the remote refuses: ${result.message}` }
    default:
      return result satisfies never
  }
}

async function dispatch({ place, runner }: Hands, campaign: Campaign, id: OrderId): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order) await runner.dispatch(order, await orderSpec(place.repository, campaign, order), campaign)
}
