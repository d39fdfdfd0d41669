import type { ForgeChange } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { buildCheckMark } from '../model/check-mark.ts'
import type { PickedChange } from '../model/experiment.ts'
import { isPicked, findSubject } from '../model/picked.ts'
import { toShortRef } from '../model/refs.ts'
import type { PullChange } from '../plan/action.ts'
import { renderPickBody } from '../report/pick-text.ts'
import type { PageUrl } from '../report/page-links.ts'
import {
  renderReopenedComment,
  renderEndedComment,
  renderPullBody,
  renderPullTitle,
  renderPushedBranchBody,
} from '../report/pull-text.ts'
import type { Spec } from '../spec/schema.ts'
import type { CampaignContext } from './place.ts'

/** Our one comment on somebody else's pull request. */
export const VERDICT = 'verdict'

/** A change as it is planned, with the words for it. Without a spec nobody reads them but whoever works here. */
export function toForgeChanges(
  place: Pick<CampaignContext, 'forge' | 'refs'>,
  campaign: Campaign,
  change: PullChange,
  spec: Spec | null,
): ForgeChange[] {
  const experiment = findSubject(campaign, change.experiment)
  if (!experiment) return []
  const page = place.forge.page ?? null
  if (isPicked(experiment)) return toPickChanges(campaign, experiment, { change, page })
  const title = renderPullTitle(experiment)
  // First: whatever is cut off of what follows, that is not.
  const shown = place.forge.check ? `${buildCheckMark(campaign, experiment)}\n` : ''
  const body = `${shown}${renderPullBody(campaign, experiment, { page, approvers: spec?.dependencies.approvers })}`
  if (change.change === 'open') {
    const base = toShortRef(place.refs.optimize)
    const words = { title, body: experiment.owned ? body : renderPushedBranchBody(experiment) }
    return [{ kind: 'open', branch: change.branch, base, ...words, draft: true }]
  }
  if (change.change === 'show') return []
  const { number } = change
  const closing: ForgeChange[] = change.change === 'close' ? [{ kind: 'close', number, reason: '' }] : []
  const again = change.change === 'close' ? change.again : undefined
  // Whatever the spec says of comments: who opens it again asks.
  if (again !== undefined)
    return [
      {
        kind: 'comment',
        number,
        body: renderReopenedComment(campaign, experiment, { head: again, page }),
        marker: `again ${again}`,
      },
      ...closing,
    ]
  const ready = experiment.status === 'landing' ? { draft: false } : {}
  if (experiment.owned) return [{ kind: 'update', number, body, ...ready }, ...closing]
  if (spec?.report.comment === 'never') return closing
  // Of somebody else's pull request the text is theirs; of ours it says it all, and a comment would be mail.
  const text =
    experiment.status === 'ended' ? `${shown}${renderEndedComment(campaign, experiment, page)}` : body
  return [{ kind: 'comment', number, body: text, marker: VERDICT }, ...closing]
}

/** Into the default branch, for a person to merge: a draft until it was measured. */
function toPickChanges(
  campaign: Campaign,
  pick: PickedChange,
  { change, page }: { change: PullChange; page: PageUrl },
): ForgeChange[] {
  const words = { title: renderPullTitle(pick), body: renderPickBody(campaign, pick, page) }
  const draft = pick.status !== 'ended'
  if (change.change === 'open')
    return [
      { kind: 'open', branch: change.branch, base: toShortRef(campaign.default_branch), ...words, draft },
    ]
  if (change.change === 'show') return []
  const { number } = change
  if (change.change === 'close')
    return [
      { kind: 'update', number, body: words.body },
      { kind: 'close', number, reason: '' },
    ]
  return [{ kind: 'update', number, body: words.body, draft }]
}
