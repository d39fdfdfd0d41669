import { ConflictError, ForgeError } from '../errors.ts'
import type { ForgeAnswer, ForgeChange, Staged } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import { shortRef } from '../model/refs.ts'
import type { Action, PullChange } from '../plan/action.ts'
import { waitingText } from '../report/approval-text.ts'
import { campaignPullBody, campaignPullTitle } from '../report/campaign-pull-text.ts'
import { greetingCheck, greetingText } from '../report/greeting-text.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Hands } from './apply.ts'
import { forgeChanges, VERDICT } from './forge-changes.ts'
import { isListed } from './listed-refs.ts'
import type { Place } from './place.ts'
import { noteRefusal } from './refusals.ts'
import { showCheck, tryCheck } from './show-check.ts'
import type { Transaction } from './transaction.ts'

type Writing = Pick<Hands, 'place' | 'memory'>

/** Where pull requests are kept in refs, they change with the push that carries the rest. */
export async function stageChanges(
  place: Place,
  campaign: Campaign,
  changes: readonly PullChange[],
  transaction: Transaction,
): Promise<Staged | null> {
  if (!place.forge.stage) return null
  const wanted = changes.flatMap(change => forgeChanges(place, campaign, change, null))
  const staged = await place.forge.stage(
    wanted,
    transaction.after(ref => isListed(place, ref)),
  )
  requireAnswered(staged.answers)
  return staged
}

/** Elsewhere they change after it; a check first, so that the text can tell that it is there. */
export async function changePulls(
  writing: Writing,
  campaign: Campaign,
  changes: readonly PullChange[],
): Promise<void> {
  for (const { experiment } of changes) await showCheck(writing, campaign, experiment)
  const spec = specOf(campaign)
  const wanted = changes.flatMap(each => forgeChanges(writing.place, campaign, each, spec))
  await change(writing, wanted)
}

/** The campaign's own pull request, from the branch that follows the incumbent into the default branch. */
export async function showCampaignPull(
  writing: Writing,
  campaign: Campaign,
  { number, ready, shows }: Extract<Action, { do: 'campaign-pull' }>,
): Promise<void> {
  const words = {
    title: campaignPullTitle(campaign),
    body: campaignPullBody(campaign, writing.place.forge.page ?? null, shows),
  }
  const branches = { branch: shortRef(writing.place.refs.campaign), base: shortRef(campaign.default_branch) }
  const wanted: ForgeChange =
    number === null
      ? { kind: 'open', ...branches, ...words, draft: !ready }
      : { kind: 'update', number, ...words, ...(ready ? { draft: false } : {}) }
  await change(writing, [wanted])
}

/** Edited later it is no mail any more. */
export async function tell(
  writing: Writing,
  campaign: Campaign,
  { number, experiment: id, here }: Extract<Action, { do: 'tell' }>,
): Promise<void> {
  const experiment = campaign.experiments[id]
  if (!experiment) return
  const body = waitingText(experiment, here)
  await change(writing, [{ kind: 'comment', number, body, marker: `approval ${id}` }])
}

/** The one comment that it has as an experiment too; the check first, so that the comment tells that it is there. */
export async function greet(
  writing: Writing,
  campaign: Campaign,
  unopened: Extract<Action, { do: 'greet' }>,
): Promise<void> {
  await tryCheck(writing.place, greetingCheck(campaign, unopened))
  const { number } = unopened
  const body = greetingText(campaign, unopened)
  await change(writing, [{ kind: 'comment', number, body, marker: VERDICT }])
}

/** What was refused to one pull request is noted; the others have got theirs. */
async function change(writing: Writing, changes: readonly ForgeChange[]): Promise<void> {
  const answers = await writing.place.forge.batch(changes)
  const refused = answers.flatMap(answer => (answer.ok || answer.code !== 'refused' ? [] : [answer.error]))
  for (const error of refused) noteRefusal(writing, error)
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
