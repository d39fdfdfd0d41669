import { findRefusedSyncAlert, isAwaitingSync } from './alerts.ts'
import { buildApprovalMark } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import {
  type Experiment,
  isAwaitingPermission,
  isPausedExperiment,
  isUnderWay,
  type PickedChange,
} from './experiment.ts'
import type { Oid } from './ids.ts'

/** Part of every text about an experiment. A different mark means that the text no longer shows the current state. */
export function buildCheckMark(campaign: Pick<Campaign, 'status'>, experiment: Experiment): string {
  const { head, verdict, outcome } = experiment
  const permission = isAwaitingPermission(experiment) ? ['permission'] : []
  const sync = isAwaitingSync(experiment) ? [experiment.awaits_sync?.obstacle] : []
  // A request for the same set after a withdrawal is a new state.
  const again = experiment.withdrawals > 0 ? [`asked again ${experiment.withdrawals}`] : []
  const state = [
    head,
    getShownStatus(campaign, experiment),
    verdict,
    outcome,
    buildApprovalMark(experiment),
    ...permission,
    ...sync,
    ...again,
  ]
  return `<!-- winnow check ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}

function getShownStatus(campaign: Pick<Campaign, 'status'>, experiment: Experiment): string {
  if (isPausedExperiment(campaign, experiment)) return campaign.status
  return isUnderWay(experiment) ? 'under way' : experiment.status
}

/**
 * Part of the comment to a user who reopened a pull request with an ended head. winnow posts it once for each head.
 */
export function buildReopenedMark({ id }: Pick<Experiment, 'id'>, head: Oid): string {
  return `<!-- winnow again ${hashSha256(JSON.stringify([id, head])).slice(0, 24)} -->`
}

/** True when the default branch has moved since the change was put on top of it. */
export function isBehind(
  { default_tip }: Pick<Campaign, 'default_tip'>,
  { base }: Pick<PickedChange, 'base'>,
): boolean {
  return base !== default_tip
}

/** Part of a pick's pull request. A different mark means that its text must be rendered again. */
export function buildPickMark(
  campaign: Pick<Campaign, 'default_tip' | 'status'>,
  pick: PickedChange,
): string {
  const { head, verdict, outcome, closed } = pick
  const state = [
    head,
    getShownStatus(campaign, pick),
    verdict,
    outcome,
    closed,
    isBehind(campaign, pick),
    buildApprovalMark(pick),
  ]
  if (pick.withdrawals > 0) state.push(`asked again ${pick.withdrawals}`)
  return `<!-- winnow pick ${hashSha256(JSON.stringify(state)).slice(0, 24)} -->`
}

/** State that the text of the campaign's pull request shows and that the ledger does not contain. */
export interface CampaignPullState {
  merged: boolean
  /** Pull request numbers of experiments that no event has recorded yet. */
  pulls: Readonly<Record<string, number>>
}

export const UNMERGED: CampaignPullState = { merged: false, pulls: {} }

/** Part of the campaign's pull request. A different mark means that its text must be rendered again. */
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
  const waiting = Object.values(experiments).flatMap(({ id, status: state }) =>
    state === 'deferred' ? [id] : [],
  )
  const awaitingPermission = Object.values(experiments)
    .filter(isAwaitingPermission)
    .map(({ id, head }) => [id, head])
  // The counts in the text are updated once a round.
  const settled = round === null ? 0 : round.number - (round.open ? 1 : 0)
  const pickStates = Object.values(picks).map(({ id, verdict, pick_end }) => [id, verdict, pick_end])
  const shown = [
    incumbent.commit,
    status,
    status_reason,
    progression?.order ?? null,
    effects,
    waiting,
    awaitingPermission,
    settled,
  ]
  const refused = findRefusedSyncAlert(campaign)?.tip ?? null
  // A refusal outside a round changes no other part of this state.
  const rejected = Object.values(experiments).filter(({ verdict }) => verdict === 'refused').length
  const extra = [
    ...(pickStates.length === 0 ? [] : [pickStates]),
    ...(refused === null ? [] : [refused]),
    ...(rejected === 0 ? [] : [{ rejected }]),
    ...(Object.keys(pulls).length === 0 ? [] : [pulls]),
    ...(merged ? ['merged'] : []),
  ]
  const state = extra.length === 0 ? shown : [...shown, ...extra]
  return `<!-- winnow campaign ${hashSha256(toCanonicalJson(state)).slice(0, 24)} -->`
}
