import { isRefusal } from '../../github/errors.ts'
import type { Check, ForgeChange } from '../../github/port.ts'
import type { Campaign } from '../../model/campaign.ts'
import { findSubject, isPicked, type PickedChange } from '../../model/experiment.ts'
import { type ExperimentId, toShortRef } from '../../model/ids.ts'
import { buildCheckMark } from '../../model/marks.ts'
import type { PullChange } from '../../plan/action.ts'
import { buildCheckRun } from '../../report/check-run.ts'
import type { PageUrl } from '../../report/github-names.ts'
import {
  renderEndedComment,
  renderPickBody,
  renderPullBody,
  renderPullTitle,
  renderPushedBranchBody,
  renderReopenedComment,
} from '../../report/pull-request.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext, Memory } from '../campaign/context.ts'

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

/** How the head of an experiment stands by now. */
export async function updateCheck(
  { place, memory }: { place: CampaignContext; memory: Memory },
  campaign: Campaign,
  id: ExperimentId,
): Promise<void> {
  const experiment = findSubject(campaign, id)
  const check =
    experiment === undefined ? null : buildCheckRun(campaign, experiment, place.forge.page ?? null)
  if (experiment === undefined || check === null) return
  memory.checks.set(id, buildCheckMark(campaign, experiment))
  const comments = getCampaignSpec(campaign).report.comment !== 'never'
  await tryUpdateCheck(place, comments ? check : { ...check, again: true })
}

/** A token that may not show checks costs nobody the campaign: verdicts stand in the pull requests as well. */
export async function tryUpdateCheck({ forge, progress }: CampaignContext, check: Check): Promise<void> {
  for (let asked = 1; ; asked++) {
    try {
      return await forge.check?.(check)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // What no permission is missing for is believed the second time.
      if (asked === 1 && error.detail.rule === undefined) continue
      return progress.say(`${check.id} has no check: ${error.message} (the token needs checks: write)`)
    }
  }
}
