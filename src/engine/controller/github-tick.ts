import { type ForgeError, isRefusal } from '../../errors.ts'
import type { Workflows } from '../../github/port.ts'
import type { ItemsToJudge } from '../../judge/judged-report.ts'
import type { Campaign } from '../../model/campaign.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import type { JobFile } from '../../model/job-file.ts'
import { planCampaign } from '../../plan/stages.ts'
import type { World } from '../../plan/world.ts'
import { formatJobTitle, lookTitle, retryTitle } from '../../report/github-names.ts'
import { type CampaignContext, createMemory, type Memory } from '../campaign/context.ts'
import { createCampaignIdeas } from '../campaign/ideas.ts'
import { type ActionsRunner, createActionsRunner, type StartedRun } from '../jobs/github-runner.ts'
import {
  createRunArtifacts,
  type EndedRun,
  FIRST_ATTEMPT,
  getJobRunId,
  listArtifactNames,
  parseRunNumber,
  type RunRole,
} from '../jobs/github-runs.ts'
import { listItemsToJudge } from '../jobs/read-answers.ts'
import type { ControllerContext } from '../observe/observe.ts'
import { reportRefusal } from './record.ts'
import { tickCampaign, type TickResult } from './tick.ts'

export interface AskingJobs {
  propose: boolean
  judge: boolean
}

export interface ActionsRun {
  /** `start` issues orders for other runs, `measure` for this one. `settle` reads its results. */
  does: 'start' | 'measure' | { settle: EndedRun }
  /** Later jobs of this run. */
  next: AskingJobs
  /** Jobs that the workflow file defines. Another run of it has them as well. */
  has: AskingJobs
  /** The title of a run that is started only to ask; `none` starts no such run. */
  nextLook?: 'usual' | 'retry' | 'none'
}

export interface MatrixEntry {
  slot: number
  order: OrderId
  title: string
}

export interface ActionsTick extends TickResult {
  refusals: ForgeError[]
  orders: MatrixEntry[]
  /** Items for this run's judge job; null when it has no work. */
  toJudge: JobFile<ItemsToJudge> | null
  started: StartedRun[]
}

/** The job holds a token, so it runs no code of the repository: that has jobs of its own. */
export async function runActionsTick(
  context: CampaignContext,
  workflows: Workflows,
  { does, next, has, nextLook = 'usual', runComments }: ActionsRun & Pick<ControllerContext, 'runComments'>,
): Promise<ActionsTick> {
  const isFirst = context.by.attempt === FIRST_ATTEMPT
  // Jobs of a second attempt cannot know what the first attempt spent.
  const may = { propose: next.propose && isFirst, judge: next.judge && isFirst }
  const role = chooseRunRole(context, workflows, { does, isFirst })
  const runner = createActionsRunner(context, workflows, { role, next: may })
  const memory = createMemory()
  const result = await tickCampaign({
    context,
    memory,
    runner,
    ideas: createCampaignIdeas(context),
    targetBranch: null,
    ...(runComments === undefined ? {} : { runComments }),
  })
  const world = result.seen?.world ?? null
  // A proposer without an idea rarely has one a minute later, so the next scheduled tick asks again.
  const nextJobs = { ...has, propose: has.propose && !runner.hadNoIdea }
  const started = [...runner.started]
  if (world !== null && started.length === 0 && nextLook !== 'none' && hasToAsk(world, nextJobs)) {
    const title = nextLook === 'retry' ? retryTitle(world.campaign) : lookTitle(world.campaign)
    started.push(...(await startNext({ context, memory }, workflows, title)))
  }
  const campaign = world?.campaign ?? null
  return {
    ...result,
    refusals: [...memory.refusals.values()],
    orders: campaign === null ? [] : buildMatrix(campaign, runner),
    toJudge: campaign !== null && may.judge ? listItemsToJudge(context, campaign, runner.unscored) : null,
    started,
  }
}

function chooseRunRole(
  context: CampaignContext,
  workflows: Workflows,
  { does, isFirst }: Pick<ActionsRun, 'does'> & { isFirst: boolean },
): RunRole {
  if (typeof does === 'string') return { does: isFirst ? does : 'start' }
  const ended = does.settle
  const run = parseRunNumber(getJobRunId(context))
  return { does: 'settle', ended, artifacts: createRunArtifacts(workflows, run, listArtifactNames(ended)) }
}

function buildMatrix(campaign: Campaign, runner: ActionsRunner): MatrixEntry[] {
  const taken = runner.listTakenOrders(campaign)
  return taken.map(({ order }, slot) => ({ slot, order: order.id, title: formatJobTitle(campaign, order) }))
}

function hasToAsk(world: World, has: AskingJobs): boolean {
  const asks = has.propose ? 'elsewhere' : world.asks
  const { actions } = planCampaign({ ...world, asks, judgeJob: has.judge })
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  return steps.some(
    step =>
      step.step === 'event' &&
      (step.draft.kind === 'proposal-requested' || step.draft.kind === 'judging-requested'),
  )
}

async function startNext(
  { context, memory }: { context: CampaignContext; memory: Memory },
  workflows: Workflows,
  title: string,
): Promise<StartedRun[]> {
  const branch = toShortRef(context.refs.optimize)
  try {
    return [{ run: await workflows.start({ branch, inputs: { title } }), title }]
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal({ context, memory }, error)
    return []
  }
}

export function hasOpenAskings({ by }: CampaignContext, campaign: Campaign): boolean {
  return listPendingProposals(campaign).some(({ run_id }) => run_id === by.run_id)
}
