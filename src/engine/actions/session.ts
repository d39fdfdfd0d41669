import type { ForgeError } from '../../errors.ts'
import type { Workflows } from '../../forge/port.ts'
import { isRefusal } from '../../forge/refused.ts'
import type { HandedItems } from '../../judge/handed-on.ts'
import type { Handed } from '../../measure/handed-file.ts'
import type { Campaign } from '../../model/campaign.ts'
import { openAskings } from '../../model/fold-asking.ts'
import type { OrderId } from '../../model/ids.ts'
import { shortRef } from '../../model/refs.ts'
import { plan } from '../../plan/stages.ts'
import type { World } from '../../plan/world.ts'
import { jobTitle, lookTitle, retryTitle } from '../../report/run-names.ts'
import type { Hands } from '../apply.ts'
import { askingElsewhere } from '../asking.ts'
import { campaignIdeas } from '../campaign-ideas.ts'
import type { Ideas } from '../ideas.ts'
import { emptyMemory, type Memory } from '../memory.ts'
import type { Place } from '../place.ts'
import { noteRefusal } from '../refusals.ts'
import { answerReader } from '../taken-answers.ts'
import { tick, type TickResult } from '../tick.ts'
import { artifactNames, type EndedRun, fetchAnswers, fetchScores } from './ended-run.ts'
import { itemsToJudge, judgesReader } from './judges.ts'
import { runArtifacts } from './run-artifacts.ts'
import { FIRST_ATTEMPT, ownRunId, runNumber, type RunRole } from './run-role.ts'
import { type FindLost, lostAskings, runLookup } from './run-lookup.ts'
import { type ActionsRunner, actionsRunner, type StartedRun } from './runner.ts'

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
export async function tickOnActions(
  place: Place,
  workflows: Workflows,
  { does, next, has, nextLook = 'usual', heed }: ActionsRun & { heed?: NonNullable<Hands['heed']> },
): Promise<ActionsTick> {
  const isFirst = place.by.attempt === FIRST_ATTEMPT
  // Jobs of another attempt could not know what the first one spent.
  const may = { propose: next.propose && isFirst, judge: next.judge && isFirst }
  const { role, answers, scores } = await takeRole(place, workflows, { does, isFirst })
  const lookAt = runLookup(workflows)
  const runner = actionsRunner(place, workflows, { role, mayJudge: may.judge, lookAt })
  const findLost = lostAskings(place, lookAt)
  const ideas = ideasWith(place, answers, findLost)
  const memory = emptyMemory()
  const result = await tick({
    place,
    memory,
    runner,
    ideas,
    asking: askingElsewhere(may.propose ? 'elsewhere' : 'later'),
    judges: judgesReader(place, runner, { mayJudge: may.judge, scores, findLost }),
    only: null,
    ...(heed === undefined ? {} : { heed }),
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
    orders: campaign === null ? [] : matrixOf(campaign, runner),
    toJudge: campaign !== null && may.judge ? itemsToJudge(place, campaign, runner) : null,
    started,
  }
}

interface Taken {
  role: RunRole
  answers: Handed | null
  scores: Handed | null
}

async function takeRole(
  place: Place,
  workflows: Workflows,
  { does, isFirst }: Pick<ActionsRun, 'does'> & { isFirst: boolean },
): Promise<Taken> {
  if (typeof does === 'string') {
    const role = { does: isFirst ? does : 'start' } as const
    return { role, answers: null, scores: null }
  }
  const ended = does.settle
  const run = runNumber(ownRunId(place))
  const artifacts = runArtifacts(workflows, run, artifactNames(ended))
  return {
    role: { does: 'settle', ended, artifacts },
    answers: await fetchAnswers(ended, artifacts),
    scores: await fetchScores(ended, artifacts),
  }
}

/** `hadNone`: programs answered in this run, and had no idea. */
function ideasWith(
  place: Place,
  answers: Handed | null,
  findLost: FindLost,
): Ideas & { readonly hadNone: boolean } {
  const ideas = campaignIdeas(place)
  const reader = answers === null ? null : answerReader(place, answers)
  let hasAnswer = false
  let hasIdea = false
  return {
    ...ideas,
    get hadNone() {
      return hasAnswer && !hasIdea
    },
    async find(scene) {
      const found = await ideas.find(scene)
      const taken = (await reader?.of(scene.campaign)) ?? { answers: [], unanswered: [] }
      hasAnswer ||= taken.answers.length > 0
      hasIdea ||= taken.answers.some(({ ok }) => ok)
      const lost = (await findLost(openAskings(scene.campaign))).map(({ asking: { key }, reason }) => ({
        key,
        reason,
      }))
      return {
        ...found,
        answers: [...found.answers, ...taken.answers],
        unanswered: [...taken.unanswered, ...lost],
      }
    },
  }
}

function matrixOf(campaign: Campaign, runner: ActionsRunner): MatrixEntry[] {
  const taken = runner.takenOrders(campaign)
  return taken.map(({ order }, slot) => ({ slot, order: order.id, title: jobTitle(campaign, order) }))
}

/** Whether the jobs of another run would be given something to ask that no job of this one can be given. */
function hasToAsk(world: World, has: AskingJobs): boolean {
  const asks = has.propose ? 'elsewhere' : world.asks
  const judges = has.judge && world.judges ? { judges: { ...world.judges, follow: true } } : {}
  const { actions } = plan({ ...world, asks, ...judges })
  const steps = actions.flatMap(action => (action.do === 'commit' ? action.steps : []))
  return steps.some(
    step =>
      step.step === 'event' && (step.draft.kind === 'idea-asked' || step.draft.kind === 'judging-asked'),
  )
}

async function startNext(
  { place, memory }: { place: Place; memory: Memory },
  workflows: Workflows,
  title: string,
): Promise<StartedRun[]> {
  const branch = shortRef(place.refs.optimize)
  try {
    return [{ run: await workflows.start({ branch, inputs: { title } }), title }]
  } catch (error) {
    if (!isRefusal(error)) throw error
    noteRefusal({ place, memory }, error)
    return []
  }
}

/** Whether the job that follows in this run has somebody to ask. */
export function asksInThisRun({ by }: Place, campaign: Campaign): boolean {
  return openAskings(campaign).some(({ run_id }) => run_id === by.run_id)
}
