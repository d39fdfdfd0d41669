import type { ForgeChange } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { checkMark } from '../model/check-mark.ts'
import type { Picked } from '../model/experiment.ts'
import { isPicked, subjectOf } from '../model/picked.ts'
import { shortRef } from '../model/refs.ts'
import type { PullChange } from '../plan/action.ts'
import { pickBody } from '../report/pick-text.ts'
import type { Page } from '../report/page-links.ts'
import { againText, endedText, pullBody, pullTitle, pushedBody } from '../report/pull-text.ts'
import type { Spec } from '../spec/schema.ts'
import type { Place } from './place.ts'

/** Our one comment on somebody else's pull request. */
export const VERDICT = 'verdict'

/** A change as it is planned, with the words for it. Without a spec nobody reads them but whoever works here. */
export function forgeChanges(
  place: Pick<Place, 'forge' | 'refs'>,
  campaign: Campaign,
  change: PullChange,
  spec: Spec | null,
): ForgeChange[] {
  const experiment = subjectOf(campaign, change.experiment)
  if (!experiment) return []
  const page = place.forge.page ?? null
  if (isPicked(experiment)) return pickChanges(campaign, experiment, { change, page })
  const title = pullTitle(experiment)
  // First: whatever is cut off of what follows, that is not.
  const shown = place.forge.check ? `${checkMark(campaign, experiment)}\n` : ''
  const body = `${shown}${pullBody(campaign, experiment, { page, approvers: spec?.dependencies.approvers })}`
  if (change.change === 'open') {
    const base = shortRef(place.refs.optimize)
    const words = { title, body: experiment.owned ? body : pushedBody(experiment) }
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
        body: againText(campaign, experiment, { head: again, page }),
        marker: `again ${again}`,
      },
      ...closing,
    ]
  const ready = experiment.status === 'landing' ? { draft: false } : {}
  if (experiment.owned) return [{ kind: 'update', number, body, ...ready }, ...closing]
  if (spec?.report.comment === 'never') return closing
  // Of somebody else's pull request the text is theirs; of ours it says it all, and a comment would be mail.
  const text = experiment.status === 'ended' ? `${shown}${endedText(campaign, experiment, page)}` : body
  return [{ kind: 'comment', number, body: text, marker: VERDICT }, ...closing]
}

/** Into the default branch, for a person to merge: a draft until it was measured. */
function pickChanges(
  campaign: Campaign,
  pick: Picked,
  { change, page }: { change: PullChange; page: Page },
): ForgeChange[] {
  const words = { title: pullTitle(pick), body: pickBody(campaign, pick, page) }
  const draft = pick.status !== 'ended'
  if (change.change === 'open')
    return [{ kind: 'open', branch: change.branch, base: shortRef(campaign.default_branch), ...words, draft }]
  if (change.change === 'show') return []
  const { number } = change
  if (change.change === 'close')
    return [
      { kind: 'update', number, body: words.body },
      { kind: 'close', number, reason: '' },
    ]
  return [{ kind: 'update', number, body: words.body, draft }]
}
