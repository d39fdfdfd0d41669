import type { Campaign } from './campaign.ts'
import { toCanonicalJson, hashSha256 } from './canonical.ts'
import { isAwaitingPermission } from './permission.ts'
import { findRefusedSyncAlert } from './sync-refused.ts'

/** What the ledger does not know, and the text of the campaign's own pull request says. */
export interface CampaignPullState {
  merged: boolean
  /** Pull requests of experiments whose number no event has recorded yet. */
  pulls: Readonly<Record<string, number>>
}

export const UNMERGED: CampaignPullState = { merged: false, pulls: {} }

/** What the campaign's own pull request says has to be written anew when this changes. */
export function buildCampaignPullMark(
  campaign: Campaign,
  { merged, pulls }: CampaignPullState = UNMERGED,
): string {
  const { incumbent, status, status_reason, progression, landings, experiments, picks, round } = campaign
  const effects = landings.map(({ experiment, reverted, effect }) => [
    experiment,
    reverted,
    effect?.order ?? null,
  ])
  const waiting = Object.values(experiments).flatMap(({ id, status: its }) =>
    its === 'deferred' ? [id] : [],
  )
  const strangers = Object.values(experiments)
    .filter(isAwaitingPermission)
    .map(({ id, head }) => [id, head])
  // The counts it shows are written anew once a round.
  const settled = round === null ? 0 : round.number - (round.open ? 1 : 0)
  const alone = Object.values(picks).map(({ id, verdict, fate }) => [id, verdict, fate])
  const told = [
    incumbent.commit,
    status,
    status_reason,
    progression?.order ?? null,
    effects,
    waiting,
    strangers,
    settled,
  ]
  const refused = findRefusedSyncAlert(campaign)?.tip ?? null
  // Refused outside a round: nothing else of the campaign changes with it.
  const rejected = Object.values(experiments).filter(({ verdict }) => verdict === 'refused').length
  const more = [
    ...(alone.length === 0 ? [] : [alone]),
    ...(refused === null ? [] : [refused]),
    ...(rejected === 0 ? [] : [{ rejected }]),
    ...(Object.keys(pulls).length === 0 ? [] : [pulls]),
    ...(merged ? ['merged'] : []),
  ]
  const state = more.length === 0 ? told : [...told, ...more]
  return `<!-- winnow campaign ${hashSha256(toCanonicalJson(state)).slice(0, 24)} -->`
}
