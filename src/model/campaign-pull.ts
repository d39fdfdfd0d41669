import type { Campaign } from './campaign.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import { awaitsPermission } from './permission.ts'
import { syncRefused } from './sync-refused.ts'

/** What the campaign's own pull request says has to be written anew when this changes. */
export function campaignPullMark(campaign: Campaign): string {
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
    .filter(awaitsPermission)
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
  const refused = syncRefused(campaign)?.tip ?? null
  const more = [...(alone.length === 0 ? [] : [alone]), ...(refused === null ? [] : [refused])]
  const state = more.length === 0 ? told : [...told, ...more]
  return `<!-- winnow campaign ${sha256(canonicalJson(state)).slice(0, 24)} -->`
}
