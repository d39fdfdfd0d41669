import { type ActionsRun, hasOpenAskings, runActionsTick } from '../engine/actions/session.ts'
import { ForgeError, UserError } from '../errors.ts'
import type { HandedItems } from '../judge/handed-on.ts'
import { toShortRef } from '../model/refs.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { lookTitle } from '../report/run-names.ts'
import { countVerdicts } from '../report/tally.ts'
import { describeResumeHint } from '../report/way-on.ts'
import { withCampaign, withRepository, type CommandContext } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { runComments } from '../verbs/comments/heed.ts'
import { DEFAULT_PREFIX, type KnownCampaign, listKnownCampaigns } from '../verbs/known-campaigns.ts'
import { openOrStartCampaign } from '../verbs/run.ts'
import type { Task } from './commands.ts'
import { isCommentRefused } from './comment-gate.ts'
import { type GithubJob, readGithubJob, isDebugging, isPaused, buildJobEnvironment } from './github-job.ts'
import { writeItemsFile } from './handed-items.ts'
import { type ActionEnv, isDryRun } from './inputs.ts'
import { createKeptFiles } from './kept-files.ts'
import { findMeasuringCampaign } from './measuring-branch.ts'
import { readNextJobs } from './next-jobs.ts'
import { requireOwnRemote } from './own-remote.ts'
import { type DryRunTurn, runDryTurn } from './rehearsed-turn.ts'
import { reportFailure, logGroup, toLogLine, appendSummary } from './runner-protocol.ts'
import { reportPaused, reportDryRun, reportTurns, type CampaignTurn } from './tell-turns.ts'
import { createCall } from './verb-call.ts'

const NOTHING_THERE = 'No campaign: no spec on the default branch, and no ledger.'

/** After this no other campaign is begun: the job has a limit, and each campaign that is left over has a run of its own. */
const BUDGET_MS = 10 * 60_000

/** Every campaign in turn, each until nothing is left to do now. A run that is under way is never waited for. */
export async function tickOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return reportPaused(task)
  const job = readGithubJob(task)
  return tickCampaigns(task, job, buildJobEnvironment(task, job))
}

export async function tickCampaigns(task: Task, job: GithubJob, around: Call['around']): Promise<number> {
  const next = readNextJobs(task.inputs)
  const known = await readCampaigns(createCall(around, {}), job)
  if (await isCommentRefused(task, around, known)) return 0
  const measuring = findMeasuringCampaign(task.env, known)
  const campaigns = measuring === undefined ? chooseCampaigns(known, task) : [measuring]
  const run: ActionsRun = { does: measuring === undefined ? 'start' : 'measure', next, has: next }
  return takeTurns(task, { around, campaigns, run })
}

export async function readCampaigns(call: Call, job: GithubJob): Promise<KnownCampaign[]> {
  return withRepository(call, DEFAULT_PREFIX, workshop => {
    requireOwnRemote(workshop.checkout.remotes, job)
    return listKnownCampaigns(workshop)
  })
}

function chooseCampaigns(known: readonly KnownCampaign[], { inputs, env }: Task): KnownCampaign[] {
  const { campaign } = inputs
  if (campaign === '') return rotateCampaigns(known, Number(env['GITHUB_RUN_NUMBER'] ?? 0))
  const meant = known.filter(({ name }) => name === campaign)
  if (meant.length > 0) return meant
  throw new UserError(`there is no campaign ${campaign}`, {
    fix: `there is ${known.map(({ name }) => name).join(', ') || 'none'}`,
  })
}

/** Each run begins with another one, so that none is always the one that is left over. */
function rotateCampaigns<T>(all: readonly T[], run: number): T[] {
  const first = all.length === 0 ? 0 : Math.abs(run) % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

export interface TurnRequest {
  around: Call['around']
  campaigns: readonly KnownCampaign[]
  run: ActionsRun
}

export async function takeTurns(task: Task, { around: given, campaigns, run }: TurnRequest): Promise<number> {
  const { env, inputs } = task
  const dry = isDryRun(inputs)
  const kept = createKeptFiles(env)
  const around = { ...given, keepUnwritten: kept.keep }
  const until = around.clock.monotonic() + BUDGET_MS
  const turns: CampaignTurn[] = []
  const rehearsed: DryRunTurn[] = []
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
      if (dry) rehearsed.push(await runDryTurn(around, known.name, { ...run, next }))
      else {
        const { items, ...done } = await runTurn(createCall(around, { campaign: known.name }), {
          ...run,
          next,
        })
        turns.push(done)
        toJudge ??= items
      }
    }
    try {
      await (campaigns.length > 1 ? logGroup(known.name, turn) : turn())
    } catch (error) {
      // The others are not to blame, and the next wake-up tries again.
      code = Math.max(code, reportFailure(env, error))
      broken.push(known.name)
    }
    logDuration(env, around, { name: known.name, began })
  }
  // All else was done; these are tried again at the next wake-up, and somebody may have to do something.
  for (const refused of turns.flatMap(turn => turn.refused))
    code = Math.max(code, reportFailure(env, new ForgeError(refused)))
  const untold = { later: leftOver.map(({ name }) => name), broken }
  if (dry) reportDryRun(task, rehearsed, untold)
  else {
    reportTurns(task, turns, { ...untold, outputs: { ...kept.tell(env), ...writeItemsFile(env, toJudge) } })
    code = Math.max(code, await startLeftOver(task, around, leftOver))
  }
  if (campaigns.length === 0 && inputs.campaign === '') {
    console.log(NOTHING_THERE)
    appendSummary(env, NOTHING_THERE)
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
      await withCampaign(createCall(around, { campaign: name }), WRITES_STARTED, async ({ place }) => {
        const run = await place.forge.workflows?.start({
          branch: toShortRef(place.refs.optimize),
          inputs: { title },
        })
        const line = toLogLine(
          `No time was left for ${name}: started run${run == null ? '' : ` ${run}`} (${title}).`,
        )
        console.log(line)
        appendSummary(env, escapeMarkdown(line))
        return 0
      })
    } catch (error) {
      code = Math.max(code, reportFailure(env, error))
    }
  }
  return code
}

const WRITES_STARTED = { access: 'write', startedOnly: true } as const

function logDuration(
  env: ActionEnv,
  { clock }: Call['around'],
  { name, began }: { name: string; began: number },
) {
  if (isDebugging(env)) console.log(toLogLine(`${name} took ${Math.round(clock.monotonic() - began)} ms.`))
}

/** `items`: what the judge job is handed, where it has something to do. */
type TurnResult = CampaignTurn & { items: HandedItems | null }

async function runTurn(call: Call, run: ActionsRun): Promise<TurnResult> {
  const turns: TurnResult[] = []
  await withCampaign(call, { access: 'write', startedOnly: false, announce: true }, async scene => {
    turns.push(await tickOnce(call, await openOrStartCampaign(call, scene), run))
    return 0
  })
  const [turn] = turns
  if (turn === undefined) throw new Error('a campaign had no turn')
  return turn
}

async function tickOnce(call: Call, scene: CommandContext, run: ActionsRun): Promise<TurnResult> {
  const { place } = scene
  const { workflows } = place.forge
  if (workflows === undefined) throw new Error('this forge runs no workflows')
  const heed = runComments(call, scene)
  const done = await runActionsTick(place, workflows, { ...run, heed })
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
  const way = describeResumeHint(campaign)
  const turn = {
    campaign: place.name,
    status: campaign.status,
    waiting,
    verdicts: countVerdicts(campaign),
    orders,
    started,
    branch: toShortRef(place.refs.optimize),
    propose: campaign.status === 'running' && hasOpenAskings(place, campaign) && run.next.propose,
    judge: items !== null,
    refused: refusals.map(({ message }) => message),
    items,
  }
  return way === null ? turn : { ...turn, to_go_on: way }
}
