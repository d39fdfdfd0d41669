import { resolve } from 'node:path'
import { type Asks, asksInThisRun, tickOnActions } from '../engine/actions/session.ts'
import { ForgeError, UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Waiting } from '../plan/action.ts'
import { cell } from '../report/markdown.ts'
import { waitingSentence } from '../report/sentence.ts'
import { type Tally, tallyOf } from '../report/tally.ts'
import { wayOnText } from '../report/way-on.ts'
import { atCampaign, atRepository, type Scene } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { heedComments } from '../verbs/comments/heed.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from '../verbs/known-campaigns.ts'
import { start } from '../verbs/run.ts'
import type { HandedItems } from '../judge/handed-on.ts'
import type { Task } from './commands.ts'
import { handOn } from './handed-items.ts'
import { type GithubJob, githubJob, isDebugging, isPaused, surroundingsOf } from './github-job.ts'
import { type Inputs, isDryRun } from './inputs.ts'
import { type Rehearsed, rehearsedTurn } from './rehearsed-turn.ts'
import { keptFiles } from './kept-files.ts'
import { failed, grouped, type Outputs, said, setOutputs, summarise } from './runner-protocol.ts'
import { requireOwnRemote } from './own-remote.ts'
import { callOf } from './verb-call.ts'

/** What one campaign came to in this wake-up. */
interface Turn {
  campaign: string
  status: Campaign['status']
  waiting: Waiting
  verdicts: Tally
  /** Whether the job of this run that asks proposers has something to do. */
  propose: boolean
  /** Whether the job of this run that asks models has something to do. */
  judge: boolean
  /** What GitHub would not do. */
  refused: string[]
  /** What a person does so that it goes on, where a limit of the spec has stopped it. */
  to_go_on?: string
}

const NOTHING_THERE = 'No campaign: no spec on the default branch, and no ledger.'

/** After this no other campaign is begun: the job has a limit, and the next wake-up goes on where this one ended. */
const BUDGET_MS = 10 * 60_000

/** Every campaign in turn, each until nothing is left to do now. A run that is under way is never waited for. */
export async function tickOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return paused(task)
  const job = githubJob(task)
  return wakeUp(task, job, surroundingsOf(task, job))
}

export async function wakeUp(task: Task, job: GithubJob, given: Call['around']): Promise<number> {
  const { env, inputs } = task
  const dry = isDryRun(inputs)
  const asks = asksOf(inputs, given.directory)
  const kept = keptFiles(env)
  const around = { ...given, keepUnwritten: kept.keep }
  const campaigns = await campaignsOf(callOf(around, {}), task, job)
  const until = around.clock.monotonic() + BUDGET_MS
  const turns: Turn[] = []
  const rehearsed: Rehearsed[] = []
  const later: string[] = []
  const broken: string[] = []
  let toJudge: HandedItems | null = null
  let code = 0
  for (const known of inTurn(campaigns, Number(env['GITHUB_RUN_NUMBER'] ?? 0))) {
    if (around.clock.monotonic() > until) {
      later.push(known.name)
      continue
    }
    const began = around.clock.monotonic()
    // One job asks for one campaign; each wake-up begins with another.
    const own = {
      ...asks,
      mayAsk: asks.mayAsk && !turns.some(({ propose }) => propose),
      mayJudge: asks.mayJudge && toJudge === null,
    }
    const turn = async (): Promise<void> => {
      if (known.problem !== null && !known.started) throw known.problem
      if (dry) rehearsed.push(await rehearsedTurn(around, known.name, own))
      else {
        const { items, ...done } = await turnOf(callOf(around, { campaign: known.name }), own, asks)
        turns.push(done)
        toJudge ??= items
      }
    }
    try {
      await (campaigns.length > 1 ? grouped(known.name, turn) : turn())
    } catch (error) {
      // The others are not to blame, and the next wake-up tries again.
      code = Math.max(code, failed(env, error))
      broken.push(known.name)
    }
    const took = Math.round(around.clock.monotonic() - began)
    if (isDebugging(env)) console.log(said(`${known.name} took ${took} ms.`))
  }
  // All else was done; these are tried again at the next wake-up, and somebody may have to do something.
  for (const refused of turns.flatMap(turn => turn.refused))
    code = Math.max(code, failed(env, new ForgeError(refused)))
  if (dry) tellRehearsed(task, rehearsed, { later, broken })
  else tell(task, turns, { later, broken, outputs: { ...kept.tell(env), ...handOn(env, toJudge) } })
  if (campaigns.length === 0 && inputs.campaign === '') {
    console.log(NOTHING_THERE)
    summarise(env, NOTHING_THERE)
  }
  return code
}

function paused({ env }: Task): number {
  const line = 'WINNOW_PAUSED is set: nothing was looked at.'
  console.log(line)
  summarise(env, line)
  setOutputs(env, { 'result-json': JSON.stringify({ paused: true, campaigns: [], later: [], broken: [] }) })
  return 0
}

async function campaignsOf(call: Call, { inputs }: Task, job: GithubJob): Promise<KnownCampaign[]> {
  const known = await atRepository(call, DEFAULT_PREFIX, workshop => {
    requireOwnRemote(workshop.checkout.remotes, job)
    return knownCampaigns(workshop)
  })
  const { campaign } = inputs
  if (campaign === '') return known
  const meant = known.filter(({ name }) => name === campaign)
  if (meant.length > 0) return meant
  throw new UserError(`there is no campaign ${campaign}`, {
    fix: `there is ${known.map(({ name }) => name).join(', ') || 'none'}`,
  })
}

/** Each wake-up begins with another one, so that none is always the one that is left over. */
function inTurn<T>(all: readonly T[], wakeUp: number): T[] {
  const first = all.length === 0 ? 0 : Math.abs(wakeUp) % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

function asksOf(inputs: Inputs, directory: string): Asks {
  const { answers, scores } = inputs
  const file = (path: string) => (path === '' ? null : resolve(directory, path))
  const asks = {
    mayAsk: isYes(inputs, 'may-ask'),
    answers: file(answers),
    mayJudge: isYes(inputs, 'may-judge'),
    scores: file(scores),
  }
  if ((asks.mayAsk || asks.mayJudge) && (asks.answers !== null || asks.scores !== null)) {
    throw new UserError('the job that takes answers in has no other after it that could ask again', {
      fix: 'give may-ask and may-judge to the job before those that ask, answers and scores to the one after them',
    })
  }
  return asks
}

function isYes(inputs: Inputs, name: 'may-ask' | 'may-judge'): boolean {
  const given = inputs[name]
  if (given === 'true') return true
  if (given === '' || given === 'false') return false
  throw new UserError(`the input ${name} is ${JSON.stringify(given)}`, { fix: 'give true or false' })
}

/** `items`: what the job that asks models is handed, where it has something to do. */
type Came = Turn & { items: HandedItems | null }

/** `follow`: what comes after this job, for whichever campaign. */
async function turnOf(call: Call, asks: Asks, follow: Asks): Promise<Came> {
  const turns: Came[] = []
  await atCampaign(call, { access: 'write', startedOnly: false, announce: true }, async scene => {
    turns.push(await oneTick(call, await start(call, scene), { asks, follow }))
    return 0
  })
  const [turn] = turns
  if (turn === undefined) throw new Error('a campaign had no turn')
  return turn
}

async function oneTick(
  call: Call,
  scene: Scene,
  { asks, follow }: Record<'asks' | 'follow', Asks>,
): Promise<Came> {
  const { place } = scene
  const { workflows } = place.forge
  if (workflows === undefined) throw new Error('this forge runs no workflows')
  const {
    waiting,
    seen,
    refusals,
    toJudge: items,
  } = await tickOnActions(place, workflows, {
    heed: heedComments(call, scene),
    ...asks,
  })
  if (seen === null) throw new Error(`campaign ${place.name} was started and is not there`)
  const { campaign } = seen.world
  const { status } = campaign
  const verdicts = tallyOf(campaign)
  const propose = status === 'running' && asksInThisRun(place, campaign)
  if (waiting.for === 'ideas' && !follow.mayAsk && seen.world.askable.length > 0)
    call.around.progress.say(`${place.name}: no job after this one asks its programs for ideas.`)
  const refused = refusals.map(({ message }) => message)
  const way = wayOnText(campaign)
  if (waiting.for === 'judges' && !follow.mayJudge && follow.scores === null)
    call.around.progress.say(
      `${place.name}: no job after this one asks models for scores; winnow init --github writes one.`,
    )
  const judge = items !== null
  const turn = { campaign: place.name, status, waiting, verdicts, propose, judge, refused, items }
  return way === null ? turn : { ...turn, to_go_on: way }
}

/** No job that would follow is asked for: nothing was written that it could work on. */
function tellRehearsed(
  { env }: Task,
  campaigns: readonly Rehearsed[],
  rest: Record<'later' | 'broken', readonly string[]>,
): void {
  summarise(env, 'A dry run: nothing was written. The log says what would be.')
  const result = { paused: false, dry_run: true, campaigns, ...rest }
  setOutputs(env, { 'result-json': JSON.stringify(result) })
}

/** A reason that a person gave, or several things that are waited for. */
const SUMMARY_LENGTH = 2_000

function tell(
  { env }: Task,
  turns: readonly Turn[],
  { later, broken, outputs }: Record<'later' | 'broken', readonly string[]> & { outputs: Outputs },
): void {
  for (const { campaign, waiting, to_go_on: way } of turns) {
    const then = way === undefined ? '' : ` To go on, ${way}.`
    const line = `${campaign}: ${waitingSentence(waiting)}${then}`
    console.log(said(line))
    summarise(env, cell(line, SUMMARY_LENGTH))
  }
  if (later.length > 0) {
    const line = said(`Left for the next wake-up: ${later.join(', ')}.`)
    console.log(line)
    summarise(env, line)
  }
  const asked = turns.find(({ propose }) => propose)
  setOutputs(env, {
    ...outputs,
    'result-json': JSON.stringify({ paused: false, campaigns: turns, later, broken }),
    propose: asked?.campaign ?? '',
  })
}
