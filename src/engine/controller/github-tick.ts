import type { ForgeError } from '../../errors.ts'
import { isRefusal } from '../../github/errors.ts'
import type { Workflows } from '../../github/port.ts'
import type { HandedItems } from '../../judge/judged-report.ts'
import type { JobFile } from '../../measure/job-file.ts'
import type { Campaign } from '../../model/campaign.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import { type OrderId, toShortRef } from '../../model/ids.ts'
import { planCampaign } from '../../plan/stages.ts'
import type { World } from '../../plan/world.ts'
import { formatJobTitle, lookTitle, retryTitle } from '../../report/github-names.ts'
import { type CampaignContext, createMemory, type Memory } from '../campaign/context.ts'
import { createCampaignIdeas, type IdeaSource } from '../campaign/ideas.ts'
import { type ActionsRunner, createActionsRunner, type StartedRun } from '../jobs/github-runner.ts'
import {
  createLostFinder,
  createRunLookup,
  type FindLost,
  FIRST_ATTEMPT,
  getJobRunId,
  parseRunNumber,
  type RunRole,
} from '../jobs/github-runs.ts'
import { createJudgesReader, listItemsToJudge } from '../jobs/judging-job.ts'
import { createAnswerReader, createRemoteProposerTasks } from '../jobs/read-proposals.ts'
import {
  createRunArtifacts,
  type EndedRun,
  fetchAnswers,
  fetchScores,
  listArtifactNames,
} from '../jobs/run-artifacts.ts'
import type { ControllerContext } from './effects.ts'
import { reportRefusal } from './record.ts'
import { tickCampaign, type TickResult } from './tick.ts'

/** Jobs that run proposers, and jobs that run judges. */
export interface AskingJobs {
  propose: boolean
  judge: boolean
}

export interface ActionsRun {
  /**
   * `start`: issues orders for other runs. `measure`: issues orders for this run's own jobs. `settle`: reads
   * the results of this run's jobs.
   */
  does: 'start' | 'measure' | { settle: EndedRun }
  /** Later jobs of this run that can take work. */
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
  toJudge: HandedItems | null
  started: StartedRun[]
}

/**
 * One tick in a job of GitHub Actions. The job holds a token, so it runs no code of the repository: orders,
 * proposers and judges have jobs of their own.
 */
export async function runActionsTick(
  context: CampaignContext,
  workflows: Workflows,
  {
    does,
    next,
    has,
    nextLook = 'usual',
    heed: runComments,
  }: ActionsRun & { heed?: NonNullable<ControllerContext['runComments']> },
): Promise<ActionsTick> {
  const isFirst = context.by.attempt === FIRST_ATTEMPT
  // Jobs of a second attempt cannot know what the first attempt spent.
  const may = { propose: next.propose && isFirst, judge: next.judge && isFirst }
  const { role, answers, scores } = await chooseRunRole(context, workflows, { does, isFirst })
  const lookUpRun = createRunLookup(workflows)
  const runner = createActionsRunner(context, workflows, { role, mayJudge: may.judge, lookAt: lookUpRun })
  const findLost = createLostFinder(context, lookUpRun)
  const ideas = createJobIdeas(context, answers, findLost)
  const memory = createMemory()
  const result = await tickCampaign({
    place: context,
    memory,
    runner,
    ideas,
    asking: createRemoteProposerTasks(may.propose ? 'elsewhere' : 'later'),
    judges: createJudgesReader(context, runner, { mayJudge: may.judge, scores, findLost }),
    targetBranch: null,
    ...(runComments === undefined ? {} : { runComments }),
  })
  const world = result.seen?.world ?? null
  // A proposer without an idea rarely has one a minute later, so the next scheduled tick asks again.
  const nextJobs = { ...has, propose: has.propose && !ideas.hadNone }
  const started = [...runner.started]
  if (world !== null && started.length === 0 && nextLook !== 'none' && hasToAsk(world, nextJobs)) {
    const title = nextLook === 'retry' ? retryTitle(world.campaign) : lookTitle(world.campaign)
    started.push(...(await startNext({ place: context, memory }, workflows, title)))
  }
  const campaign = world?.campaign ?? null
  return {
    ...result,
    refusals: [...memory.refusals.values()],
    orders: campaign === null ? [] : buildMatrix(campaign, runner),
    toJudge: campaign !== null && may.judge ? listItemsToJudge(context, campaign, runner) : null,
    started,
  }
}

interface SettledRun {
  role: RunRole
  answers: JobFile | null
  scores: JobFile | null
}

async function chooseRunRole(
  context: CampaignContext,
  workflows: Workflows,
  { does, isFirst }: Pick<ActionsRun, 'does'> & { isFirst: boolean },
): Promise<SettledRun> {
  if (typeof does === 'string') {
    const role = { does: isFirst ? does : 'start' } as const
    return { role, answers: null, scores: null }
  }
  const ended = does.settle
  const run = parseRunNumber(getJobRunId(context))
  const artifacts = createRunArtifacts(workflows, run, listArtifactNames(ended))
  return {
    role: { does: 'settle', ended, artifacts },
    answers: await fetchAnswers(ended, artifacts),
    scores: await fetchScores(ended, artifacts),
  }
}

/** `hadNone`: proposers answered in this run without an idea. */
function createJobIdeas(
  context: CampaignContext,
  answers: JobFile | null,
  findLost: FindLost,
): IdeaSource & { readonly hadNone: boolean } {
  const ideas = createCampaignIdeas(context)
  const reader = answers === null ? null : createAnswerReader(context, answers)
  let hasAnswer = false
  let hasIdea = false
  return {
    ...ideas,
    get hadNone() {
      return hasAnswer && !hasIdea
    },
    async find(context) {
      const found = await ideas.find(context)
      const taken = (await reader?.readAnswers(context.campaign)) ?? { answers: [], unanswered: [] }
      hasAnswer ||= taken.answers.length > 0
      hasIdea ||= taken.answers.some(({ ok }) => ok)
      const lost = (await findLost(listPendingProposals(context.campaign))).map(
        ({ asking: { key }, reason }) => ({
          key,
          reason,
        }),
      )
      return {
        ...found,
        answers: [...found.answers, ...taken.answers],
        unanswered: [...taken.unanswered, ...lost],
      }
    },
  }
}

function buildMatrix(campaign: Campaign, runner: ActionsRunner): MatrixEntry[] {
  const taken = runner.listTakenOrders(campaign)
  return taken.map(({ order }, slot) => ({ slot, order: order.id, title: formatJobTitle(campaign, order) }))
}

/** Returns whether another run could ask proposers or judges that this run has no job for. */
function hasToAsk(world: World, has: AskingJobs): boolean {
  const asks = has.propose ? 'elsewhere' : world.asks
  const judges = has.judge && world.judges ? { judges: { ...world.judges, hasJudgeJob: true } } : {}
  const { actions } = planCampaign({ ...world, asks, ...judges })
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  return steps.some(
    step =>
      step.step === 'event' && (step.draft.kind === 'idea-asked' || step.draft.kind === 'judging-asked'),
  )
}

async function startNext(
  { place: context, memory }: { place: CampaignContext; memory: Memory },
  workflows: Workflows,
  title: string,
): Promise<StartedRun[]> {
  const branch = toShortRef(context.refs.optimize)
  try {
    return [{ run: await workflows.start({ branch, inputs: { title } }), title }]
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal({ place: context, memory }, error)
    return []
  }
}

/** Returns whether the next job of this run has a proposer to ask. */
export function hasOpenAskings({ by }: CampaignContext, campaign: Campaign): boolean {
  return listPendingProposals(campaign).some(({ run_id }) => run_id === by.run_id)
}
