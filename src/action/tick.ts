import { type ActionsRun, asksInThisRun, tickOnActions } from '../engine/actions/session.ts'
import { ForgeError, UserError } from '../errors.ts'
import type { HandedItems } from '../judge/handed-on.ts'
import { shortRef } from '../model/refs.ts'
import { cell } from '../report/markdown.ts'
import { lookTitle } from '../report/run-names.ts'
import { tallyOf } from '../report/tally.ts'
import { wayOnText } from '../report/way-on.ts'
import { atCampaign, atRepository, type Scene } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { heedComments } from '../verbs/comments/heed.ts'
import { DEFAULT_PREFIX, type KnownCampaign, knownCampaigns } from '../verbs/known-campaigns.ts'
import { start } from '../verbs/run.ts'
import type { Task } from './commands.ts'
import { refusesComment } from './comment-gate.ts'
import { type GithubJob, githubJob, isDebugging, isPaused, surroundingsOf } from './github-job.ts'
import { handOn } from './handed-items.ts'
import { type Env, isDryRun } from './inputs.ts'
import { keptFiles } from './kept-files.ts'
import { measuringCampaign } from './measuring-branch.ts'
import { readNextJobs } from './next-jobs.ts'
import { requireOwnRemote } from './own-remote.ts'
import { type Rehearsed, rehearsedTurn } from './rehearsed-turn.ts'
import { failed, grouped, said, summarise } from './runner-protocol.ts'
import { tellPaused, tellRehearsed, tellTurns, type Turn } from './tell-turns.ts'
import { callOf } from './verb-call.ts'

const NOTHING_THERE = 'No campaign: no spec on the default branch, and no ledger.'

/** After this no other campaign is begun: the job has a limit, and each campaign that is left over has a run of its own. */
const BUDGET_MS = 10 * 60_000

/** Every campaign in turn, each until nothing is left to do now. A run that is under way is never waited for. */
export async function tickOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return tellPaused(task)
  const job = githubJob(task)
  return tickIn(task, job, surroundingsOf(task, job))
}

export async function tickIn(task: Task, job: GithubJob, around: Call['around']): Promise<number> {
  const next = readNextJobs(task.inputs)
  const known = await readCampaigns(callOf(around, {}), job)
  if (await refusesComment(task, around, known)) return 0
  const measuring = measuringCampaign(task.env, known)
  const campaigns = measuring === undefined ? chooseCampaigns(known, task) : [measuring]
  const run: ActionsRun = { does: measuring === undefined ? 'start' : 'measure', next, has: next }
  return takeTurns(task, { around, campaigns, run })
}

export async function readCampaigns(call: Call, job: GithubJob): Promise<KnownCampaign[]> {
  return atRepository(call, DEFAULT_PREFIX, workshop => {
    requireOwnRemote(workshop.checkout.remotes, job)
    return knownCampaigns(workshop)
  })
}

function chooseCampaigns(known: readonly KnownCampaign[], { inputs, env }: Task): KnownCampaign[] {
  const { campaign } = inputs
  if (campaign === '') return inTurn(known, Number(env['GITHUB_RUN_NUMBER'] ?? 0))
  const meant = known.filter(({ name }) => name === campaign)
  if (meant.length > 0) return meant
  throw new UserError(`there is no campaign ${campaign}`, {
    fix: `there is ${known.map(({ name }) => name).join(', ') || 'none'}`,
  })
}

/** Each run begins with another one, so that none is always the one that is left over. */
function inTurn<T>(all: readonly T[], run: number): T[] {
  const first = all.length === 0 ? 0 : Math.abs(run) % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

export interface Turning {
  around: Call['around']
  campaigns: readonly KnownCampaign[]
  run: ActionsRun
}

export async function takeTurns(task: Task, { around: given, campaigns, run }: Turning): Promise<number> {
  const { env, inputs } = task
  const dry = isDryRun(inputs)
  const kept = keptFiles(env)
  const around = { ...given, keepUnwritten: kept.keep }
  const until = around.clock.monotonic() + BUDGET_MS
  const turns: Turn[] = []
  const rehearsed: Rehearsed[] = []
  const leftOver: KnownCampaign[] = []
  const broken: string[] = []
  let toJudge: HandedItems | null = null
  let code = 0
  for (const known of campaigns) {
    if (around.clock.monotonic() > until) {
      leftOver.push(known)
      continue
    }
    const began = around.clock.monotonic()
    // Each of these jobs asks for one campaign; the others have runs of their own.
    const next = {
      propose: run.next.propose && !turns.some(({ propose }) => propose),
      judge: run.next.judge && toJudge === null,
    }
    const turn = async (): Promise<void> => {
      if (known.problem !== null && !known.started) throw known.problem
      if (dry) rehearsed.push(await rehearsedTurn(around, known.name, { ...run, next }))
      else {
        const { items, ...done } = await turnOf(callOf(around, { campaign: known.name }), { ...run, next })
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
    sayHowLong(env, around, { name: known.name, began })
  }
  // All else was done; these are tried again at the next wake-up, and somebody may have to do something.
  for (const refused of turns.flatMap(turn => turn.refused))
    code = Math.max(code, failed(env, new ForgeError(refused)))
  const untold = { later: leftOver.map(({ name }) => name), broken }
  if (dry) tellRehearsed(task, rehearsed, untold)
  else {
    tellTurns(task, turns, { ...untold, outputs: { ...kept.tell(env), ...handOn(env, toJudge) } })
    code = Math.max(code, await startLeftOver(task, around, leftOver))
  }
  if (campaigns.length === 0 && inputs.campaign === '') {
    console.log(NOTHING_THERE)
    summarise(env, NOTHING_THERE)
  }
  return code
}

/**
 * A run on a campaign's own branch looks at that campaign alone, so it leaves none over and this ends. A campaign that has
 * not begun has no such branch: the next wake-up begins it.
 */
async function startLeftOver(
  { env }: Task,
  around: Call['around'],
  leftOver: readonly KnownCampaign[],
): Promise<number> {
  let code = 0
  for (const { name } of leftOver.filter(({ started }) => started)) {
    const title = lookTitle({ name })
    try {
      await atCampaign(callOf(around, { campaign: name }), WRITES_STARTED, async ({ place }) => {
        const run = await place.forge.workflows?.start({
          branch: shortRef(place.refs.optimize),
          inputs: { title },
        })
        const line = said(
          `No time was left for ${name}: started run${run == null ? '' : ` ${run}`} (${title}).`,
        )
        console.log(line)
        summarise(env, cell(line))
        return 0
      })
    } catch (error) {
      code = Math.max(code, failed(env, error))
    }
  }
  return code
}

const WRITES_STARTED = { access: 'write', startedOnly: true } as const

function sayHowLong(env: Env, { clock }: Call['around'], { name, began }: { name: string; began: number }) {
  if (isDebugging(env)) console.log(said(`${name} took ${Math.round(clock.monotonic() - began)} ms.`))
}

/** `items`: what the judge job is handed, where it has something to do. */
type Came = Turn & { items: HandedItems | null }

async function turnOf(call: Call, run: ActionsRun): Promise<Came> {
  const turns: Came[] = []
  await atCampaign(call, { access: 'write', startedOnly: false, announce: true }, async scene => {
    turns.push(await oneTick(call, await start(call, scene), run))
    return 0
  })
  const [turn] = turns
  if (turn === undefined) throw new Error('a campaign had no turn')
  return turn
}

async function oneTick(call: Call, scene: Scene, run: ActionsRun): Promise<Came> {
  const { place } = scene
  const { workflows } = place.forge
  if (workflows === undefined) throw new Error('this forge runs no workflows')
  const heed = heedComments(call, scene)
  const done = await tickOnActions(place, workflows, { ...run, heed })
  const { waiting, seen, refusals, orders, started, toJudge: items } = done
  if (seen === null) throw new Error(`campaign ${place.name} was started and is not there`)
  const { campaign } = seen.world
  const { progress } = call.around
  if (waiting.for === 'ideas' && !run.has.propose && seen.world.askable.length > 0)
    progress.say(`${place.name}: this workflow has no job that asks its programs for ideas.`)
  if (waiting.for === 'judges' && !run.has.judge)
    progress.say(
      `${place.name}: this workflow has no job that asks models for scores; winnow init --github writes one.`,
    )
  const way = wayOnText(campaign)
  const turn = {
    campaign: place.name,
    status: campaign.status,
    waiting,
    verdicts: tallyOf(campaign),
    orders,
    started,
    branch: shortRef(place.refs.optimize),
    propose: campaign.status === 'running' && asksInThisRun(place, campaign) && run.next.propose,
    judge: items !== null,
    refused: refusals.map(({ message }) => message),
    items,
  }
  return way === null ? turn : { ...turn, to_go_on: way }
}
