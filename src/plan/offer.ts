import type { Campaign } from '../model/campaign.ts'
import { OFFER } from '../model/fold.ts'
import { offerMark } from '../model/offer.ts'
import type { Action, Step } from './action.ts'
import type { OfferFacts, World } from './world.ts'

/**
 * The campaign's own pull request: opened with the first thing kept, so that it is never empty, kept current, and
 * ready once the campaign has stopped. It follows the ledger (invariant 11); only what people do to it counts.
 */
export function offerActions(world: World): Action[] {
  const { campaign, offer } = world
  if (offer === undefined || campaign.status === 'none') return []
  const ready = campaign.status === 'stopped'
  if (offer?.state === 'open') {
    const current = offer.body.includes(offerMark(campaign)) && !(ready && offer.draft)
    return current ? [] : [{ do: 'offer', number: offer.number, ready }]
  }
  return isDue(world, offer) ? [{ do: 'offer', number: null, ready }] : []
}

/** Something is kept that the default branch lacks, and the branch to offer it from stands there. */
function isDue({ campaign, campaignTip, defaultTip, sync }: World, offer: OfferFacts | null): boolean {
  const { incumbent, landings, status, round } = campaign
  const kept = landings.some(({ reverted }) => reverted === null)
  const apart = incumbent.commit !== defaultTip.commit && incumbent.tree !== defaultTip.tree
  if (!kept || !apart || sync !== null || campaignTip !== incumbent.commit || round?.open === true)
    return false
  return (
    offer === null || (status === 'running' && offer.head !== incumbent.commit) || reopens(campaign, offer)
  )
}

/** Who goes on after it was closed wants it back. */
function reopens({ status, heeded }: Campaign, offer: OfferFacts): boolean {
  return offer.state === 'closed' && status === 'running' && Object.hasOwn(heeded, causeOf(offer))
}

/** Merged: the campaign is over. Closed: nobody wants more of it for now. Each once, so that it can go on after. */
export function offerSteps({ campaign, offer }: World): Step[] {
  if (!offer || offer.state === 'open' || Object.hasOwn(campaign.heeded, causeOf(offer))) return []
  const cause = causeOf(offer)
  if (offer.state === 'merged' && campaign.status !== 'stopped') {
    const reason = `its pull request #${offer.number} was merged`
    return [{ step: 'event', draft: { kind: 'campaign-stopped', cause, code: 'merged', reason } }]
  }
  if (offer.state === 'closed' && campaign.status === 'running') {
    const reason = `its pull request #${offer.number} was closed; winnow resume opens another one`
    return [{ step: 'event', draft: { kind: 'campaign-paused', cause, reason, source: 'person' } }]
  }
  return []
}

function causeOf({ number, state, closed_at }: OfferFacts): string {
  return `${OFFER}${number} ${state} ${closed_at ?? ''}`
}
