import { isRefusal } from '../../github/errors.ts'
import type { ForgeChange } from '../../github/port.ts'
import type { Campaign } from '../../model/campaign.ts'
import { findSubject, isPicked, type PickedChange } from '../../model/experiment.ts'
import type { Check } from '../../model/github.ts'
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

/** Marks the single comment that winnow keeps on another person's pull request. */
export const VERDICT = 'verdict'

/**
 * Turns planned changes into forge changes with their texts. The spec is null for a local forge, which posts
 * no comments.
 */
export function toForgeChanges(
  context: Pick<CampaignContext, 'forge' | 'refs'>,
  campaign: Campaign,
  change: PullChange,
  spec: Spec | null,
): ForgeChange[] {
  const experiment = findSubject(campaign, change.experiment)
  if (!experiment) return []
  const page = context.forge.page ?? null
  if (isPicked(experiment)) return toPickChanges(campaign, experiment, { change, page })
  const title = renderPullTitle(experiment)
  // First in the body, so that truncation does not remove it.
  const mark = context.forge.check ? `${buildCheckMark(campaign, experiment)}\n` : ''
  const body = `${mark}${renderPullBody(campaign, experiment, { page, approvers: spec?.dependencies.approvers })}`
  if (change.change === 'open') {
    const base = toShortRef(context.refs.optimize)
    const texts = { title, body: experiment.owned ? body : renderPushedBranchBody(experiment) }
    return [{ kind: 'open', branch: change.branch, base, ...texts, draft: true }]
  }
  if (change.change === 'show') return []
  const { number } = change
  const closing: ForgeChange[] = change.change === 'close' ? [{ kind: 'close', number, reason: '' }] : []
  const reopenedHead = change.change === 'close' ? change.again : undefined
  // Answers even with `report.comment: never`, because reopening the pull request asks for an answer.
  if (reopenedHead !== undefined)
    return [
      {
        kind: 'comment',
        number,
        body: renderReopenedComment(campaign, experiment, { head: reopenedHead, page }),
        marker: `again ${reopenedHead}`,
      },
      ...closing,
    ]
  const ready = experiment.status === 'landing' ? { draft: false } : {}
  if (experiment.owned) return [{ kind: 'update', number, body, ...ready }, ...closing]
  if (spec?.report.comment === 'never') return closing
  // winnow never edits another person's text and comments instead. On its own pull requests a comment would
  // only send mail.
  const text =
    experiment.status === 'ended' ? `${mark}${renderEndedComment(campaign, experiment, page)}` : body
  return [{ kind: 'comment', number, body: text, marker: VERDICT }, ...closing]
}

/** A pick targets the default branch, for a person to merge. It stays a draft until it is measured. */
function toPickChanges(
  campaign: Campaign,
  pick: PickedChange,
  { change, page }: { change: PullChange; page: PageUrl },
): ForgeChange[] {
  const texts = { title: renderPullTitle(pick), body: renderPickBody(campaign, pick, page) }
  const draft = pick.status !== 'ended'
  if (change.change === 'open')
    return [
      { kind: 'open', branch: change.branch, base: toShortRef(campaign.default_branch), ...texts, draft },
    ]
  if (change.change === 'show') return []
  const { number } = change
  if (change.change === 'close')
    return [
      { kind: 'update', number, body: texts.body },
      { kind: 'close', number, reason: '' },
    ]
  return [{ kind: 'update', number, body: texts.body, draft }]
}

export async function updateCheck(
  { place: context, memory }: { place: CampaignContext; memory: Memory },
  campaign: Campaign,
  id: ExperimentId,
): Promise<void> {
  const experiment = findSubject(campaign, id)
  const check =
    experiment === undefined ? null : buildCheckRun(campaign, experiment, context.forge.page ?? null)
  if (experiment === undefined || check === null) return
  memory.checks.set(id, buildCheckMark(campaign, experiment))
  const comments = getCampaignSpec(campaign).report.comment !== 'never'
  await tryUpdateCheck(context, comments ? check : { ...check, again: true })
}

/**
 * A token without permission for checks does not stop the campaign: the pull requests carry the verdicts as
 * well.
 */
export async function tryUpdateCheck({ forge, progress }: CampaignContext, check: Check): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await forge.check?.(check)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // Without a permission rule in the refusal, it may be temporary: try a second time.
      if (attempt === 1 && error.detail.rule === undefined) continue
      return progress.say(`${check.id} has no check: ${error.message} (the token needs checks: write)`)
    }
  }
}
