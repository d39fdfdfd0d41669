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
  /** Runs commands from comments. Returns true when the ledger has changed. */
  runComments?: (observation: Observation) => Promise<boolean>
}

export type ApplyResult =
  | { result: 'done' }
  /** Another process moved a ref first. The plan is void; observe again. */
  | { result: 'lost'; refs: string[]; unwritten: readonly EventDraft[] }
  | { result: 'held'; what: string }

const DONE: ApplyResult = { result: 'done' }

export async function executeEffect(
  controller: ControllerContext,
  observation: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  // The campaign after that push.
  const { campaign } = controller.memory.loaded ?? observation.loaded
  switch (action.do) {
    case 'dispatch':
      await dispatchOrder(controller, campaign, action.order)
      return DONE
    case 'cancel':
      await controller.runner.cancel(action.order)
      return DONE
    case 'merge':
      return askForMerge(controller, campaign, action)
    case 'pulls':
      if (!controller.place.forge.stage) await changePulls(controller, campaign, action.changes)
      return DONE
    case 'campaign-pull':
      await writeCampaignPull(controller, campaign, action)
      return DONE
    case 'tell':
      await commentApprovalRequest(controller, campaign, action)
      return DONE
    case 'greet':
      await commentPaused(controller, campaign, action)
      return DONE
    case 'propose':
      for (const proposer of action.who)
        controller.runner.propose(proposer, {
          campaign: observation.loaded.campaign,
          spec: observation.world.spec,
        })
      return DONE
    case 'stop-asking':
      await controller.runner.cancelProposers()
      return DONE
    case 'commit':
    case 'delete-branches':
    case 'advance-campaign-branch':
      return DONE
    default:
      return action satisfies never
  }
}

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
  { place: context, runner }: ControllerContext,
  campaign: Campaign,
  id: OrderId,
): Promise<void> {
  const order = campaign.orders[id]?.order
  if (order)
    await runner.dispatch(order, await readSpecForOrder(context.repository, campaign, order), campaign)
}

/**
 * Runs one effect after the push. A refusal does not stop the other effects; the next tick finds this one
 * missing and tries again.
 */
export async function runEffect(
  controller: ControllerContext,
  observation: Observation,
  action: PlanAction,
): Promise<ApplyResult> {
  const { place: context, memory } = controller
  try {
    const applied = await executeEffect(controller, observation, action)
    // Running orders and a forge kept in refs show the effect at the next observation; the others are
    // remembered.
    const shows = action.do === 'dispatch' || context.forge.stage !== undefined
    if (applied.result === 'done' && !shows) rememberEffect(memory, action)
    return applied
  } catch (error) {
    if (!isRefusal(error)) throw error
    rememberEffect(memory, action)
    reportRefusal(controller, error)
    if (action.do === 'dispatch') await recordRefusalAlert(controller, error)
    return { result: 'done' }
  }
}

function rememberEffect(memory: Memory, action: PlanAction): void {
  const tip = memory.loaded?.tip.commit ?? null
  if (memory.carried.tip !== tip) memory.carried = { tip, keys: new Set() }
  for (const key of listRepeatKeys(action)) memory.carried.keys.add(key)
}

/**
 * On GitHub, start and cancel remote jobs first, then write comments and pull requests. A local runner starts
 * its jobs in plan order, after the texts.
 */
export function sortEffects({ runner }: ControllerContext, actions: readonly PlanAction[]): PlanAction[] {
  if (runner.runId !== null) return [...actions]
  const urgent = (action: PlanAction) => action.do === 'dispatch' || action.do === 'cancel'
  return [...actions.filter(urgent), ...actions.filter(action => !urgent(action))]
}

type PullWriteContext = Pick<ControllerContext, 'place' | 'memory'>

export async function stageChanges(
  context: CampaignContext,
  campaign: Campaign,
  changes: readonly PullChange[],
  transaction: Transaction,
): Promise<StagedChanges | null> {
  if (!context.forge.stage) return null
  const wanted = changes.flatMap(change => toForgeChanges(context, campaign, change, null))
  const staged = await context.forge.stage(
    wanted,
    transaction.refsAfter(ref => isListed(context, ref)),
  )
  requireAnswered(staged.answers)
  return staged
}

/**
 * A remote forge changes pull requests after the push. Checks are updated first, because the pull request text
 * mentions them.
 */
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

async function writeCampaignPull(
  writing: PullWriteContext,
  campaign: Campaign,
  { number, ready, shows }: Extract<PlanAction, { do: 'campaign-pull' }>,
): Promise<void> {
  const texts = {
    title: renderCampaignPullTitle(campaign),
    body: renderCampaignPullBody(campaign, writing.place.forge.page ?? null, shows),
  }
  const branches = {
    branch: toShortRef(writing.place.refs.campaign),
    base: toShortRef(campaign.default_branch),
  }
  const wanted: ForgeChange =
    number === null
      ? { kind: 'open', ...branches, ...texts, draft: !ready }
      : { kind: 'update', number, ...texts, ...(ready ? { draft: false } : {}) }
  await applyForgeChanges(writing, [wanted])
}

/** Posts a new comment each time, because GitHub sends no mail for an edited one. */
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

/**
 * Uses the same comment as an experiment's verdict. The check is updated first, because the comment mentions
 * it.
 */
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

/** A refusal for one pull request is reported and does not stop the others. */
async function applyForgeChanges(writing: PullWriteContext, changes: readonly ForgeChange[]): Promise<void> {
  const answers = await writing.place.forge.batch(changes)
  const refused = answers.flatMap(answer => (answer.ok || answer.code !== 'refused' ? [] : [answer.error]))
  for (const error of refused) reportRefusal(writing, error)
  requireAnswered(answers.filter(answer => answer.ok || answer.code !== 'refused'))
}

/**
 * These codes mean that no change is left to make: the same tick may have landed the experiment of the pull
 * request.
 */
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
 * Asks GitHub to merge a kept experiment. The next observation reads the branch, so a lost answer loses no
 * merge (invariant 7).
 */
async function askForMerge(
  { place: context, memory }: Pick<ControllerContext, 'place' | 'memory'>,
  campaign: Campaign,
  { number, experiment: id }: Extract<PlanAction, { do: 'merge' }>,
): Promise<ApplyResult> {
  const experiment = campaign.experiments[id]
  const head = experiment?.head ?? null
  if (!campaign.landing || !experiment || head === null || !context.forge.merge) return { result: 'done' }
  const texts = buildLandingMessage(campaign, { ...campaign.landing, experiment }, number)
  const [title = '', ...message] = renderLandingMessage(texts).split('\n')
  const answer = await context.forge.merge(number, { head, title, message: message.join('\n').trim() })
  memory.refs = null
  if (answer.ok) return { result: 'done' }
  const target = `#${number} (${id}) into ${toShortRef(context.refs.optimize)}`
  const reason = toOneLine(answer.message, 600)
  if (answer.why === 'moved') return { result: 'held', what: `GitHub did not merge ${target}: ${reason}` }
  const problem = `GitHub does not merge ${target}: ${reason} The next tick asks again.`
  const about = `${id}: ${reason}`
  if (!campaign.alerts.some(alert => alert.code === REFUSED && alert.about === about))
    await recordEvents(context, [{ kind: 'alert', code: REFUSED, message: problem, about }])
  return { result: 'held', what: problem }
}
