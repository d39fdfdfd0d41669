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

/** Jobs that ask programs for ideas, and models for scores. */
export interface AskingJobs {
  propose: boolean
  judge: boolean
}

/** The run of GitHub Actions of which this process is a job. */
export interface ActionsRun {
  /** What it measures: nothing, what this tick gives its own jobs, or what those have measured. */
  does: 'start' | 'measure' | { settle: EndedRun }
  /** Jobs that follow on this one and may be given something. */
  next: AskingJobs
  /** Jobs that the workflow file has: another run of it has them as well. */
  has: AskingJobs
  /** What a run is called that is started only to ask; `none`: no such run is started. */
  nextLook?: 'usual' | 'retry' | 'none'
}

/** An entry of the matrix of measuring jobs. */
export interface MatrixEntry {
  slot: number
  order: OrderId
  title: string
}

export interface ActionsTick extends TickResult {
  refusals: ForgeError[]
  /** What this run's own jobs measure. */
  orders: MatrixEntry[]
  /** What this run's judge job has scored; null where it has nothing to do. */
  toJudge: HandedItems | null
  /** Runs that this tick has started. */
  started: StartedRun[]
}

/**
 * One tick in a job of GitHub Actions. It holds a token, so it runs no program of anybody: orders, proposers and judges
 * have jobs of their own.
 */
export async function runActionsTick(
  place: CampaignContext,
  workflows: Workflows,
  {
    does,
    next,
    has,
    nextLook = 'usual',
    heed,
  }: ActionsRun & { heed?: NonNullable<ControllerContext['runComments']> },
): Promise<ActionsTick> {
  const isFirst = place.by.attempt === FIRST_ATTEMPT
  // Jobs of another attempt could not know what the first one spent.
  const may = { propose: next.propose && isFirst, judge: next.judge && isFirst }
  const { role, answers, scores } = await chooseRunRole(place, workflows, { does, isFirst })
  const lookAt = createRunLookup(workflows)
  const runner = createActionsRunner(place, workflows, { role, mayJudge: may.judge, lookAt })
  const findLost = createLostFinder(place, lookAt)
  const ideas = createJobIdeas(place, answers, findLost)
  const memory = createMemory()
  const result = await tickCampaign({
    place,
    memory,
    runner,
    ideas,
    asking: createRemoteProposerTasks(may.propose ? 'elsewhere' : 'later'),
    judges: createJudgesReader(place, runner, { mayJudge: may.judge, scores, findLost }),
    targetBranch: null,
    ...(heed === undefined ? {} : { runComments: heed }),
  })
  const world = result.seen?.world ?? null
  // A program without an idea has hardly one a minute later: the next scheduled tick asks again.
  const again = { ...has, propose: has.propose && !ideas.hadNone }
  const started = [...runner.started]
  if (world !== null && started.length === 0 && nextLook !== 'none' && hasToAsk(world, again)) {
    const title = nextLook === 'retry' ? retryTitle(world.campaign) : lookTitle(world.campaign)
    started.push(...(await startNext({ place, memory }, workflows, title)))
  }
  const campaign = world?.campaign ?? null
  return {
    ...result,
    refusals: [...memory.refusals.values()],
    orders: campaign === null ? [] : buildMatrix(campaign, runner),
    toJudge: campaign !== null && may.judge ? listItemsToJudge(place, campaign, runner) : null,
    started,
  }
}

interface SettledRun {
  role: RunRole
  answers: JobFile | null
  scores: JobFile | null
}

async function chooseRunRole(
  place: CampaignContext,
  workflows: Workflows,
  { does, isFirst }: Pick<ActionsRun, 'does'> & { isFirst: boolean },
): Promise<SettledRun> {
  if (typeof does === 'string') {
    const role = { does: isFirst ? does : 'start' } as const
    return { role, answers: null, scores: null }
  }
  const ended = does.settle
  const run = parseRunNumber(getJobRunId(place))
  const artifacts = createRunArtifacts(workflows, run, listArtifactNames(ended))
  return {
    role: { does: 'settle', ended, artifacts },
    answers: await fetchAnswers(ended, artifacts),
    scores: await fetchScores(ended, artifacts),
  }
}

/** `hadNone`: programs answered in this run, and had no idea. */
function createJobIdeas(
  place: CampaignContext,
  answers: JobFile | null,
  findLost: FindLost,
): IdeaSource & { readonly hadNone: boolean } {
  const ideas = createCampaignIdeas(place)
  const reader = answers === null ? null : createAnswerReader(place, answers)
  let hasAnswer = false
  let hasIdea = false
  return {
    ...ideas,
    get hadNone() {
      return hasAnswer && !hasIdea
    },
    async find(scene) {
      const found = await ideas.find(scene)
      const taken = (await reader?.readAnswers(scene.campaign)) ?? { answers: [], unanswered: [] }
      hasAnswer ||= taken.answers.length > 0
      hasIdea ||= taken.answers.some(({ ok }) => ok)
      const lost = (await findLost(listPendingProposals(scene.campaign))).map(
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

/** Whether the jobs of another run would be given something to ask that no job of this one can be given. */
function hasToAsk(world: World, has: AskingJobs): boolean {
  const asks = has.propose ? 'elsewhere' : world.asks
  const judges = has.judge && world.judges ? { judges: { ...world.judges, follow: true } } : {}
  const { actions } = planCampaign({ ...world, asks, ...judges })
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  return steps.some(
    step =>
      step.step === 'event' && (step.draft.kind === 'idea-asked' || step.draft.kind === 'judging-asked'),
  )
}

async function startNext(
  { place, memory }: { place: CampaignContext; memory: Memory },
  workflows: Workflows,
  title: string,
): Promise<StartedRun[]> {
  const branch = toShortRef(place.refs.optimize)
  try {
    return [{ run: await workflows.start({ branch, inputs: { title } }), title }]
  } catch (error) {
    if (!isRefusal(error)) throw error
    reportRefusal({ place, memory }, error)
    return []
  }
}

/** Whether the job that follows in this run has somebody to ask. */
export function hasOpenAskings({ by }: CampaignContext, campaign: Campaign): boolean {
  return listPendingProposals(campaign).some(({ run_id }) => run_id === by.run_id)
}
