import { isRefusal } from '../forge/refused.ts'
import type { Check, ForgeAnswer, ForgeChange, Staged } from '../forge/port.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Picked } from '../model/experiment.ts'
import { checkMark } from '../model/check-mark.ts'
import type { EventDraft } from '../model/event.ts'
import type { ExperimentId } from '../model/ids.ts'
import { isPicked, subjectOf } from '../model/picked.ts'
import { shortRef } from '../model/refs.ts'
import type { Action, PullChange } from '../plan/action.ts'
import { ConflictError, ForgeError } from '../errors.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import { checkOf } from '../report/check-run.ts'
import { campaignPullBody, campaignPullTitle } from '../report/campaign-pull-text.ts'
import { greetingCheck, greetingText } from '../report/greeting-text.ts'
import { pickBody } from '../report/pick-text.ts'
import { waitingText } from '../report/approval-text.ts'
import { againText, endedText, pullBody, pullTitle, pushedBody } from '../report/pull-text.ts'
import { askForMerge } from './merge.ts'
import { noteRefusal } from './refusals.ts'
import { isListed } from './listed-refs.ts'
import type { Memory } from './memory.ts'
import type { Eyes, Observation } from './observe.ts'
import { orderSpec } from './order-spec.ts'
import type { Place } from './place.ts'
import type { Transaction } from './transaction.ts'

export interface Hands extends Eyes {
  /** What people ask for in comments; true where the ledger is another one after it. */
  heed?: (seen: Observation) => Promise<boolean>
}

export type Applied =
  | { result: 'done' }
  /** Somebody else moved a ref first: the plan is void, look again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: Applied = { result: 'done' }

export async function stageChanges(
  place: Place,
  campaign: Campaign,
  changes: readonly PullChange[],
  transaction: Transaction,
): Promise<Staged | null> {
  if (!place.forge.stage) return null
  const wanted = changes.flatMap(change => forgeChanges(place, campaign, change))
  const staged = await place.forge.stage(
    wanted,
    transaction.after(ref => isListed(place, ref)),
  )
  requireAnswered(staged.answers)
  return staged
}

/** Some changes have nothing left to change: the same turn may have landed what a pull request was wanted for. */
const SETTLED: ReadonlySet<string> = new Set(['duplicate', 'merged', 'nothing-new'])

/** What was refused to one pull request is noted; the others have got theirs. */
async function change(
  hands: Pick<Hands, 'place' | 'memory'>,
  changes: readonly ForgeChange[],
): Promise<void> {
  const answers = await hands.place.forge.batch(changes)
  const refused = answers.flatMap(answer => (answer.ok || answer.code !== 'refused' ? [] : [answer.error]))
  for (const error of refused) noteRefusal(hands, error)
  requireAnswered(answers.filter(answer => answer.ok || answer.code !== 'refused'))
}

function requireAnswered(answers: readonly ForgeAnswer[]): void {
  for (const answer of answers) {
    if (answer.ok || SETTLED.has(answer.code)) continue
    if (answer.code === 'no-branch' || answer.code === 'no-base') throw new ConflictError(answer.message, [])
    throw new ForgeError(answer.message)
  }
}

/** What an action does besides moving refs, after the push that moved them was accepted. */
export async function takeEffect(hands: Hands, seen: Observation, action: Action): Promise<Applied> {
  switch (action.do) {
    case 'dispatch':
      await dispatch(hands, action.order)
      return DONE
    case 'cancel':
      await hands.runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(hands, action)
    case 'pulls':
      if (!hands.place.forge.stage) await changePulls(hands, action.changes)
      return DONE
    case 'campaign-pull':
      await showCampaignPull(hands, seen, action)
      return DONE
    case 'tell':
      await tell(hands, action)
      return DONE
    case 'greet':
      await greet(hands, seen, action)
      return DONE
    case 'propose':
      for (const who of action.who)
        hands.asking.begin(who, { campaign: seen.loaded.campaign, spec: seen.world.spec })
      return DONE
    case 'stop-asking':
      await hands.asking.close()
      return DONE
    case 'commit':
    case 'delete-branches':
    case 'advance-campaign-branch':
      return DONE
    default:
      return action satisfies never
  }
}

/** What came of a push that was to carry these events. */
export function appliedOf(
  result: Awaited<ReturnType<Place['repository']['push']>>,
  unwritten: readonly EventDraft[],
): Applied {
  if (result.ok) return DONE
  switch (result.reason) {
    case 'lease':
      return { result: 'lost', refs: result.refs, unwritten }
    case 'checked-out':
      return {
        result: 'held',
        what: `${shortRef(result.ref)} is checked out in ${result.worktree}: switch it to another branch`,
      }
    case 'refused':
    case 'atomic-refused':
      return { result: 'held', what: `the remote refuses: ${result.message}` }
    default:
      return result satisfies never
  }
}

async function dispatch({ place, memory, runner }: Hands, id: string): Promise<void> {
  const campaign = memory.loaded?.campaign
  const order = campaign?.orders[id]?.order
  if (campaign && order) await runner.dispatch(order, await orderSpec(place.repository, campaign, order))
}

/** The campaign's own pull request, from the branch that follows the incumbent into the default branch. */
async function showCampaignPull(
  { place, memory }: Hands,
  { loaded }: Observation,
  { number, ready }: Extract<Action, { do: 'campaign-pull' }>,
): Promise<void> {
  const campaign = memory.loaded?.campaign ?? loaded.campaign
  const words = { title: campaignPullTitle(campaign), body: campaignPullBody(campaign) }
  const branches = { branch: shortRef(place.refs.campaign), base: shortRef(campaign.default_branch) }
  const wanted: ForgeChange =
    number === null
      ? { kind: 'open', ...branches, ...words, draft: !ready }
      : { kind: 'update', number, ...words, ...(ready ? { draft: false } : {}) }
  await change({ place, memory }, [wanted])
}

/** Edited later it is no mail any more. */
async function tell(
  { place, memory }: Hands,
  { number, experiment: id, here }: Extract<Action, { do: 'tell' }>,
): Promise<void> {
  const experiment = memory.loaded?.campaign.experiments[id]
  if (!experiment) return
  const body = waitingText(experiment, here)
  await change({ place, memory }, [{ kind: 'comment', number, body, marker: `approval ${id}` }])
}

/** The one comment that it has as an experiment too; the check first, so that the comment tells that it is there. */
async function greet(
  { place, memory }: Hands,
  { loaded }: Observation,
  unopened: Extract<Action, { do: 'greet' }>,
): Promise<void> {
  const campaign = memory.loaded?.campaign ?? loaded.campaign
  await tryCheck({ place }, greetingCheck(campaign, unopened))
  const { number } = unopened
  const body = greetingText(campaign, unopened)
  await change({ place, memory }, [{ kind: 'comment', number, body, marker: VERDICT }])
}

const VERDICT = 'verdict'

async function changePulls({ place, memory }: Hands, changes: readonly PullChange[]): Promise<void> {
  for (const { experiment } of changes)
    await showCheck({ place, memory }, memory.loaded?.campaign, experiment)
  await change({ place, memory }, forgeChangesOf(place, memory, changes))
}

/** A token that may not show checks costs nobody the campaign: verdicts stand in the pull requests as well. */
export async function showCheck(
  { place, memory }: Pick<Hands, 'place' | 'memory'>,
  campaign: Campaign | undefined,
  id: ExperimentId,
): Promise<void> {
  const experiment = campaign && subjectOf(campaign, id)
  const check = campaign && experiment ? checkOf(campaign, experiment) : null
  if (check === null || !campaign || !experiment) return
  memory.checks.set(id, checkMark(campaign, experiment))
  const comments = specOf(campaign).report.comment !== 'never'
  await tryCheck({ place }, comments ? check : { ...check, again: true })
}

export async function tryCheck({ place }: Pick<Hands, 'place'>, check: Check): Promise<void> {
  for (let asked = 1; ; asked++) {
    try {
      return await place.forge.check?.(check)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // What no permission is missing for is believed the second time.
      if (asked === 1 && error.detail.rule === undefined) continue
      const { id } = check
      return place.progress.say(`${id} has no check: ${error.message} (the token needs checks: write)`)
    }
  }
}

function forgeChangesOf(place: Place, memory: Memory, changes: readonly PullChange[]): ForgeChange[] {
  const campaign = memory.loaded?.campaign
  if (!campaign) return []
  const spec = specOf(campaign)
  return changes.flatMap(change => forgeChanges(place, campaign, change, spec))
}

/** Without a spec nobody reads what is said but whoever works here. */
function forgeChanges(place: Place, campaign: Campaign, change: PullChange, spec?: Spec): ForgeChange[] {
  const experiment = subjectOf(campaign, change.experiment)
  if (!experiment) return []
  if (isPicked(experiment)) return pickChanges(campaign, experiment, change)
  const title = pullTitle(experiment)
  // First: whatever is cut off of what follows, that is not.
  const shown = place.forge.check ? `${checkMark(campaign, experiment)}\n` : ''
  const body = `${shown}${pullBody(campaign, experiment, spec?.dependencies.approvers)}`
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
      { kind: 'comment', number, body: againText(experiment, again), marker: `again ${again}` },
      ...closing,
    ]
  const ready = experiment.status === 'landing' ? { draft: false } : {}
  if (experiment.owned) return [{ kind: 'update', number, body, ...ready }, ...closing]
  if (spec?.report.comment === 'never') return closing
  // Of somebody else's pull request the text is theirs; of ours it says it all, and a comment would be mail.
  const text = experiment.status === 'ended' ? `${shown}${endedText(experiment)}` : body
  return [{ kind: 'comment', number, body: text, marker: VERDICT }, ...closing]
}

/** Into the default branch, for a person to merge: a draft until it was measured. */
function pickChanges(campaign: Campaign, pick: Picked, change: PullChange): ForgeChange[] {
  const words = { title: pullTitle(pick), body: pickBody(campaign, pick) }
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
