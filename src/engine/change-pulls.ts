import { ConflictError, ForgeError } from '../errors.ts'
import type { ForgeAnswer, ForgeChange, StagedChanges } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { toShortRef } from '../model/refs.ts'
import type { PlanAction, PullChange } from '../plan/action.ts'
import { renderApprovalComment } from '../report/approval-text.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../report/campaign-pull-text.ts'
import { buildPausedCheck, renderPausedComment } from '../report/greeting-text.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { ControllerContext } from './apply.ts'
import { toForgeChanges, VERDICT } from './forge-changes.ts'
import { isListed } from './listed-refs.ts'
import type { CampaignContext } from './place.ts'
import { reportRefusal } from './refusals.ts'
import { updateCheck, tryUpdateCheck } from './show-check.ts'
import type { Transaction } from './transaction.ts'

type PullWriteContext = Pick<ControllerContext, 'place' | 'memory'>

/** Where pull requests are kept in refs, they change with the push that carries the rest. */
export async function stageChanges(
  place: CampaignContext,
  campaign: Campaign,
  changes: readonly PullChange[],
  transaction: Transaction,
): Promise<StagedChanges | null> {
  if (!place.forge.stage) return null
  const wanted = changes.flatMap(change => toForgeChanges(place, campaign, change, null))
  const staged = await place.forge.stage(
    wanted,
    transaction.refsAfter(ref => isListed(place, ref)),
  )
  requireAnswered(staged.answers)
  return staged
}

/** Elsewhere they change after it; a check first, so that the text can tell that it is there. */
export async function changePulls(
  writing: PullWriteContext,
  campaign: Campaign,
  changes: readonly PullChange[],
): Promise<void> {
  for (const { experiment } of changes) await updateCheck(writing, campaign, experiment)
  const spec = getCampaignSpec(campaign)
  const wanted = changes.flatMap(each => toForgeChanges(writing.place, campaign, each, spec))
  await applyForgeChanges(writing, wanted)
}

/** The campaign's own pull request, from the branch that follows the incumbent into the default branch. */
export async function writeCampaignPull(
  writing: PullWriteContext,
  campaign: Campaign,
  { number, ready, shows }: Extract<PlanAction, { do: 'campaign-pull' }>,
): Promise<void> {
  const words = {
    title: renderCampaignPullTitle(campaign),
    body: renderCampaignPullBody(campaign, writing.place.forge.page ?? null, shows),
  }
  const branches = {
    branch: toShortRef(writing.place.refs.campaign),
    base: toShortRef(campaign.default_branch),
  }
  const wanted: ForgeChange =
    number === null
      ? { kind: 'open', ...branches, ...words, draft: !ready }
      : { kind: 'update', number, ...words, ...(ready ? { draft: false } : {}) }
  await applyForgeChanges(writing, [wanted])
}

/** Edited later it is no mail any more. */
export async function commentApprovalRequest(
  writing: PullWriteContext,
  campaign: Campaign,
  { number, experiment: id, here }: Extract<PlanAction, { do: 'tell' }>,
): Promise<void> {
  const experiment = campaign.experiments[id]
  if (!experiment) return
  const body = renderApprovalComment(experiment, here)
  await applyForgeChanges(writing, [{ kind: 'comment', number, body, marker: `approval ${id}` }])
}

/** The one comment that it has as an experiment too; the check first, so that the comment tells that it is there. */
export async function commentPaused(
  writing: PullWriteContext,
  campaign: Campaign,
  unopened: Extract<PlanAction, { do: 'greet' }>,
): Promise<void> {
  await tryUpdateCheck(writing.place, buildPausedCheck(campaign, unopened))
  const { number } = unopened
  const body = renderPausedComment(campaign, unopened)
  await applyForgeChanges(writing, [{ kind: 'comment', number, body, marker: VERDICT }])
}

/** What was refused to one pull request is noted; the others have got theirs. */
async function applyForgeChanges(writing: PullWriteContext, changes: readonly ForgeChange[]): Promise<void> {
  const answers = await writing.place.forge.batch(changes)
  const refused = answers.flatMap(answer => (answer.ok || answer.code !== 'refused' ? [] : [answer.error]))
  for (const error of refused) reportRefusal(writing, error)
  requireAnswered(answers.filter(answer => answer.ok || answer.code !== 'refused'))
}

/** Some changes have nothing left to change: the same turn may have landed what a pull request was wanted for. */
const SETTLED: ReadonlySet<string> = new Set(['duplicate', 'merged', 'nothing-new'])

function requireAnswered(answers: readonly ForgeAnswer[]): void {
  for (const answer of answers) {
    if (answer.ok || SETTLED.has(answer.code)) continue
    if (answer.code === 'no-branch' || answer.code === 'no-base') throw new ConflictError(answer.message, [])
    throw new ForgeError(answer.message)
  }
}
