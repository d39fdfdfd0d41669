import type { Campaign } from './campaign.ts'
import { canonicalJson, sha256 } from './canonical.ts'
import { syncRefused } from './sync-refused.ts'

/** What the campaign's own pull request says has to be written anew when this changes. */
export function campaignPullMark(campaign: Campaign): string {
  const { incumbent, status, status_reason, progression, landings, experiments, picks } = campaign
  const effects = landings.map(({ experiment, reverted, effect }) => [
    experiment,
    reverted,
    effect?.order ?? null,
  ])
  const waiting = Object.values(experiments).flatMap(({ id, status: its }) =>
    its === 'deferred' ? [id] : [],
  )
  const alone = Object.values(picks).map(({ id, verdict, fate }) => [id, verdict, fate])
  const told = [incumbent.commit, status, status_reason, progression?.order ?? null, effects, waiting]
  const refused = syncRefused(campaign)?.tip ?? null
  const more = [...(alone.length === 0 ? [] : [alone]), ...(refused === null ? [] : [refused])]
  const state = more.length === 0 ? told : [...told, ...more]
  return `<!-- winnow campaign ${sha256(canonicalJson(state)).slice(0, 24)} -->`
}
