import { findRefusedSyncAlert, isAwaitingSync } from './alerts.ts'
import { buildApprovalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import { type Experiment, isAwaitingPermission, isPausedExperiment, type PickedChange } from './experiment.ts'
import type { Oid } from './ids.ts'

/** Our texts about an experiment hold this, so that it can be told whether its head shows how it stands. */
export function buildCheckMark(campaign: Pick<Campaign, 'status'>, experiment: Experiment): string {
  const { head, status, verdict, outcome } = experiment
  const permission = isAwaitingPermission(experiment) ? ['permission'] : []
  const sync = isAwaitingSync(experiment) ? [experiment.awaits_sync?.obstacle] : []
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = isPausedExperiment(campaign, experiment) ? campaign.status : under
  // It waits for the same set again, and what was shown in between is over.
  const again = experiment.withdrawals > 0 ? [`asked again ${experiment.withdrawals}`] : []
  const state = [
    head,
    still,
    verdict,
    outcome,
    buildApprovalMark(experiment),
    ...permission,
    ...sync,
    ...again,
  ]
  return `<!-- winnow check ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}

/** Who opened a pull request again with a head that has ended is told by a text that holds this, once for each head. */
export function buildReopenedMark({ id }: Pick<Experiment, 'id'>, head: Oid): string {
  return `<!-- winnow again ${hashSha256(JSON.stringify([id, head])).slice(0, 24)} -->`
}

/** The default branch went on since the change was put on it. */
export function isBehind(
  { default_tip }: Pick<Campaign, 'default_tip'>,
  { base }: Pick<PickedChange, 'base'>,
): boolean {
  return base !== default_tip
}

/** What the pull request of a change taken alone says has to be written anew when this changes. */
export function buildPickMark(
  campaign: Pick<Campaign, 'default_tip' | 'status'>,
  pick: PickedChange,
): string {
  const { head, status, verdict, outcome, closed } = pick
  const under = status === 'queued' || status === 'ordered' || status === 'measured' ? 'under way' : status
  const still = isPausedExperiment(campaign, pick) ? campaign.status : under
  const state = [head, still, verdict, outcome, closed, isBehind(campaign, pick), buildApprovalMark(pick)]
  if (pick.withdrawals > 0) state.push(`asked again ${pick.withdrawals}`)
  return `<!-- winnow pick ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}

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
