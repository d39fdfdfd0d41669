import { ConflictError, ForgeError } from '../../errors.ts'
import { isRefusal } from '../../github/errors.ts'
import type { ForgeAnswer, ForgeChange, StagedChanges } from '../../github/port.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { EventDraft } from '../../model/event.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { buildLandingMessage, renderLandingMessage } from '../../model/landing.ts'
import { toOneLine } from '../../model/text.ts'
import type { PlanAction, PullChange } from '../../plan/action.ts'
import { listRepeatKeys } from '../../plan/draft.ts'
import { renderApprovalComment } from '../../report/approval.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../../report/campaign-pull-request.ts'
import { buildPausedCheck, renderPausedComment } from '../../report/check-run.ts'
import { getCampaignSpec } from '../../spec/load.ts'
import { type CampaignContext, isListed, type Memory } from '../campaign/context.ts'
import { readSpecForOrder } from '../jobs/load-order.ts'
import type { Observation, ObserverContext } from '../observe/observe.ts'
import { toForgeChanges, tryUpdateCheck, updateCheck, VERDICT } from './pull-texts.ts'
import { recordEvents, recordRefusalAlert, reportRefusal } from './record.ts'
import type { Transaction } from './transaction.ts'

export interface ControllerContext extends ObserverContext {
  /** What people ask for in comments; true where the ledger is another one after it. */
  runComments?: (seen: Observation) => Promise<boolean>
}

export type ApplyResult =
  | { result: 'done' }
  /** Somebody else moved a ref first: the plan is void, look again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: ApplyResult = { result: 'done' }

/** What an action does besides moving refs, after the push that moved them was accepted. */
export async function executeEffect(
  hands: ControllerContext,
  seen: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  // As that push left it.
  const { campaign } = hands.memory.loaded ?? seen.loaded
  switch (action.do) {
    case 'dispatch':
      await dispatchOrder(hands, campaign, action.order)
      return DONE
    case 'cancel':
      await hands.runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(hands, campaign, action)
    case 'pulls':
      if (!hands.place.forge.stage) await changePulls(hands, campaign, action.changes)
      return DONE
    case 'campaign-pull':
      await writeCampaignPull(hands, campaign, action)
      return DONE
    case 'tell':
      await commentApprovalRequest(hands, campaign, action)
      return DONE
    case 'greet':
      await commentPaused(hands, campaign, action)
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
export function toApplyResult(
  result: Awaited<ReturnType<CampaignContext['repository']['push']>>,
  unwritten: readonly EventDraft[],
): ApplyResult {
  if (result.ok) return DONE
  switch (result.reason) {
    case 'lease':
      return { result: 'lost', refs: result.refs, unwritten }
    case 'checked-out':
      return {
        result: 'held',
        what: `${toShortRef(result.ref)} is checked out in ${result.worktree}: switch it to another branch`,
      }
    case 'refused':
    case 'atomic-refused':
      return { result: 'held', what: `the remote refuses: ${result.message}` }
    default:
      return result satisfies never
  }
}

async function dispatchOrder(
  { place, runner }: ControllerContext,
  campaign: Campaign,
  id: OrderId,
): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order) await runner.dispatch(order, await readSpecForOrder(place.repository, campaign, order), campaign)
}

/**
 * One of the effects that follow a push. Where it is refused, no other has to wait for that; whoever looks next finds it
 * missing, and tries again.
 */
export async function runEffect(
  hands: ControllerContext,
  seen: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  const { place, memory } = hands
  try {
    const applied = await executeEffect(hands, seen, action)
    // What runs shows at once, and a forge that is kept in refs as well.
    const shows = action.do === 'dispatch' || place.forge.stage !== undefined
    if (applied.result === 'done' && !shows) rememberEffect(memory, action)
    return applied
  } catch (error) {
    if (!isRefusal(error)) throw error
    rememberEffect(memory, action)
    reportRefusal(hands, error)
    if (action.do === 'dispatch') await recordRefusalAlert(hands, error)
    return { result: 'done' }
  }
}

function rememberEffect(memory: Memory, action: PlanAction): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.carried.tip !== tip) memory.carried = { tip, keys: new Set() }
  for (const key of listRepeatKeys(action)) memory.carried.keys.add(key)
}

/** Machines elsewhere are asked first: what is said, and to whom, can wait. This one begins when all is said. */
export function sortEffects({ runner }: ControllerContext, actions: readonly PlanAction[]): PlanAction[] {
  if (runner.runId !== null) return [...actions]
  const urgent = (action: PlanAction) => action.do === 'dispatch' || action.do === 'cancel'
  return [...actions.filter(urgent), ...actions.filter(action => !urgent(action))]
}

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
async function changePulls(
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
async function writeCampaignPull(
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
async function commentApprovalRequest(
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
async function commentPaused(
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

const REFUSED = 'merge-refused'

/**
 * Asks the forge for the merge of what was decided to be kept. Whatever it answers is looked at anew: only what
 * lies on the branch counts, so an answer that was lost loses nothing (invariant 7).
 */
async function askForMerge(
  { place, memory }: Pick<ControllerContext, 'place' | 'memory'>,
  campaign: Campaign,
  { number, experiment: id }: Extract<PlanAction, { do: 'merge' }>,
): Promise<ApplyResult> {
  const experiment = campaign.experiments[id]
  const head = experiment?.head ?? null
  if (!campaign.landing || !experiment || head === null || !place.forge.merge) return { result: 'done' }
  const words = buildLandingMessage(campaign, { ...campaign.landing, experiment }, number)
  const [title = '', ...message] = renderLandingMessage(words).split('\n')
  const answer = await place.forge.merge(number, { head, title, message: message.join('\n').trim() })
  memory.refs = null
  if (answer.ok) return { result: 'done' }
  const where = `#${number} (${id}) into ${toShortRef(place.refs.optimize)}`
  const said = toOneLine(answer.message, 600)
  if (answer.why === 'moved') return { result: 'held', what: `GitHub did not merge ${where}: ${said}` }
  const told = `GitHub does not merge ${where}: ${said} The next tick asks again.`
  const about = `${id}: ${said}`
  if (!campaign.alerts.some(alert => alert.code === REFUSED && alert.about === about))
    await recordEvents(place, [{ kind: 'alert', code: REFUSED, message: told, about }])
  return { result: 'held', what: told }
}
