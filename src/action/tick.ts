import { group, isDebug } from '@actions/core'
import { z } from 'zod'
import { runComments } from '../cli/comments.ts'
import { withCampaign, withRepository } from '../cli/context.ts'
import { announceEvents } from '../cli/dry-run.ts'
import { DEFAULT_PREFIX, type KnownCampaign, listKnownCampaigns } from '../cli/known-campaigns.ts'
import { openOrStartCampaign } from '../cli/run.ts'
import type { Call, CommandContext } from '../cli/verb.ts'
import {
  type ActionsRun,
  type ActionsTick,
  type AskingJobs,
  hasOpenAskings,
  runActionsTick,
} from '../engine/controller/github-tick.ts'
import { requireForge } from '../engine/campaign/context.ts'
import type { OpenedRepository } from '../engine/campaign/open.ts'
import { ForgeError, UserError } from '../errors.ts'
import { createDryRunForge, WouldChange } from '../github/dry-run.ts'
import type { ItemsToJudge } from '../judge/judged-report.ts'
import { formatChecksums, listWrittenSubjects } from '../model/attestation.ts'
import type { Campaign } from '../model/campaign.ts'
import type { LedgerEvent } from '../model/event.ts'
import { buildCampaignRefs, toShortRef } from '../model/ids.ts'
import { type JobFile, serializeJobFile } from '../model/job-file.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { countVerdicts, type Tally } from '../report/status.ts'
import { lookTitle, reviewTitle } from '../report/github-names.ts'
import { escapeMarkdown } from '../report/markdown.ts'
import { describeResumeHint } from '../report/resume-hint.ts'
import { describeWaiting } from '../report/verdict-text.ts'
import {
  buildJobEnvironment,
  createCall,
  type GithubJob,
  isCommentRefused,
  isPaused,
  NO_CAMPAIGNS,
  parseJobEvent,
  readGithubJob,
  reportPaused,
  requireOwnRemote,
} from './github-job.ts'
import type { ActionEnv, Inputs } from './inputs.ts'
import { findMeasuringCampaign } from './job.ts'
import { appendSummary, type Outputs, reportFailure, setOutputs, toLogLine } from './outputs.ts'
import type { Task } from './root-pipe.ts'
import { createJobFile, createKeptFiles } from './saved-files.ts'

const NOTHING_THERE = 'No campaign: the default branch has no spec, and there is no ledger.'

/** No further campaign starts after this time. Each remaining one gets a run of its own. */
const BUDGET_MS = 10 * 60_000

/** A reason that a person gave, or a list of things to wait for, can be long. */
const SUMMARY_LENGTH = 2_000

/** Ticks one campaign after the other until none has work left. Does not wait for other runs. */
export async function tickOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return reportPaused({ paused: true, ...NO_CAMPAIGNS })
  const job = readGithubJob(task)
  return tickCampaigns(task, job, buildJobEnvironment(task, job))
}

export async function tickCampaigns(
  task: Task,
  job: GithubJob,
  environment: Call['environment'],
): Promise<number> {
  const { attest, ...next } = readNextJobs(task.inputs)
  if (attest && (await isLeftToAnotherRun(job, environment))) return 0
  const { known, opened } = await readCampaigns(createCall(environment, {}), job)
  if (await isCommentRefused(job, environment, known)) return 0
  const measuring = findMeasuringCampaign(task.env, known)
  const campaigns = measuring === undefined ? chooseCampaigns(known, task) : [measuring]
  const run: ActionsRun = { does: measuring === undefined ? 'start' : 'measure', next, has: next }
  return takeTurns(task, { environment: { ...environment, opened }, campaigns, run })
}

const reviewed = z.object({
  pull_request: z.object({ number: z.number().int() }),
  repository: z.object({ default_branch: z.string() }),
})

/**
 * The run of a review is at the merge of its pull request. An attestation would name the workflow file of that merge,
 * which counts for nothing, so another run at the default branch reads the review.
 */
async function isLeftToAnotherRun(job: GithubJob, environment: Call['environment']): Promise<boolean> {
  if (job.event.name !== 'pull_request_review') return false
  const { pull_request: pull, repository } = parseJobEvent(reviewed, job.event)
  const title = reviewTitle(pull.number)
  const workflows = environment.forge?.(buildCampaignRefs(DEFAULT_PREFIX, '')).workflows
  if (workflows === undefined) throw new Error('this forge runs no workflows')
  const run = await workflows.start({ branch: repository.default_branch, inputs: { title } })
  const line = toLogLine(
    `Started run${run === null ? '' : ` ${run}`} (${title}), whose events can be attested.`,
  )
  console.log(line)
  appendSummary(escapeMarkdown(line))
  setOutputs({ 'result-json': JSON.stringify({ paused: false, ...NO_CAMPAIGNS }) })
  return true
}

interface ReadCampaigns {
  known: KnownCampaign[]
  /** Every turn opens the repository for itself, and reads none of this again. */
  opened: OpenedRepository
}

export async function readCampaigns(call: Call, job: GithubJob): Promise<ReadCampaigns> {
  return withRepository(call, DEFAULT_PREFIX, async context => {
    const { checkout, defaultBranch } = context
    requireOwnRemote(checkout.remotes, job)
    const known = await listKnownCampaigns(context, { progress: call.environment.progress })
    return { known, opened: { checkout, defaultBranch } }
  })
}

function chooseCampaigns(known: readonly KnownCampaign[], { inputs, env }: Task): KnownCampaign[] {
  const { campaign } = inputs
  if (campaign === '') return rotateCampaigns(known, Number(env['GITHUB_RUN_NUMBER'] ?? 0))
  const chosen = known.filter(({ name }) => name === campaign)
  if (chosen.length > 0) return chosen
  throw new UserError(`there is no campaign ${campaign}`, {
    fix: `there is ${known.map(({ name }) => name).join(', ') || 'none'}`,
  })
}

/** Each run starts with another campaign, so that the time limit does not always skip the same one. */
function rotateCampaigns<T>(all: readonly T[], run: number): T[] {
  const first = all.length === 0 ? 0 : Math.abs(run) % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}

// Turns of campaigns

export interface TurnRequest {
  environment: Call['environment']
  campaigns: readonly KnownCampaign[]
  run: ActionsRun
  /** Campaigns with results of this run's jobs. No later run can record them, so they are never left over. */
  due?: readonly string[]
}

export async function takeTurns(
  task: Task,
  { environment: given, campaigns, run, due = [] }: TurnRequest,
): Promise<number> {
  const { env, inputs } = task
  const isDry = inputs.isDryRun
  const unwritten = createKeptFiles(env)
  const environment = { ...given, keepUnwritten: unwritten.keep }
  const deadline = environment.clock.monotonic() + BUDGET_MS
  const turns: CampaignTurn[] = []
  const dryRuns: DryRunTurn[] = []
  const remaining: KnownCampaign[] = []
  const broken: string[] = []
  let toJudge: CampaignItems | null = null
  const written = new Map<string, LedgerEvent[]>()
  let code = 0
  for (const known of campaigns) {
    if (environment.clock.monotonic() > deadline && !due.includes(known.name)) {
      remaining.push(known)
      continue
    }
    const startedAt = environment.clock.monotonic()
    // The propose job and the judge job of this run each serve one campaign. The other campaigns have their
    // own runs.
    const next = {
      propose: run.next.propose && !turns.some(({ propose }) => propose),
      judge: run.next.judge && toJudge === null,
    }
    const turn = async (): Promise<void> => {
      if (known.problem !== null && !known.started) throw known.problem
      const { name } = known
      if (isDry) return void dryRuns.push(await runDryTurn(environment, name, { ...run, next }))
      const call = { ...createCall(environment, { campaign: name }), known: campaigns }
      const events: LedgerEvent[] = []
      written.set(name, events)
      const { items, ...done } = await runTurn(call, { ...run, next }, events)
      turns.push(done)
      toJudge ??= items && { campaign: name, items }
    }
    try {
      await (campaigns.length > 1 ? group(toLogLine(known.name), turn) : turn())
    } catch (error) {
      // Other campaigns continue. The next scheduled run tries this one again.
      code = Math.max(code, reportFailure(error))
      broken.push(known.name)
    }
    const took = Math.round(environment.clock.monotonic() - startedAt)
    if (isDebug()) console.log(toLogLine(`${known.name} took ${took} ms.`))
  }
  // GitHub refused these calls. The next scheduled run repeats them, but a person may have to grant a
  // permission.
  for (const refusal of turns.flatMap(turn => turn.refused))
    code = Math.max(code, reportFailure(new ForgeError(refusal)))
  const skipped = { later: remaining.map(({ name }) => name), broken }
  if (isDry) reportDryRun(dryRuns, skipped)
  else {
    const subjects = [...written].flatMap(([name, events]) => listWrittenSubjects(name, events))
    const ledger = formatChecksums(subjects)
    // A failure to start another run sets outputs too, so those of this run come last.
    code = Math.max(code, await startLeftOver(environment, remaining))
    const outputs = { ...unwritten.tell(), ...writeItemsFile(env, toJudge), ledger }
    reportTurns(task, turns, { ...skipped, outputs })
  }
  if (campaigns.length === 0 && inputs.campaign === '') {
    console.log(NOTHING_THERE)
    appendSummary(NOTHING_THERE)
  }
  return code
}

/**
 * A run on a campaign's branch handles only that campaign, so this cannot start runs without end. A campaign
 * that has not started has no branch; the next scheduled run starts it.
 */
async function startLeftOver(
  environment: Call['environment'],
  remaining: readonly KnownCampaign[],
): Promise<number> {
  let code = 0
  for (const { name } of remaining.filter(({ started }) => started)) {
    const title = lookTitle({ name })
    const call = { ...createCall(environment, { campaign: name }), known: remaining }
    try {
      await withCampaign(call, WRITES_STARTED, async ({ campaignContext: { forge, refs } }) => {
        const branch = toShortRef(refs.optimize)
        const run = await forge?.workflows?.start({ branch, inputs: { title } })
        const named = `run${run == null ? '' : ` ${run}`} (${title})`
        const line = `Started a separate run for ${name}, because this run is out of time: ${named}.`
        console.log(toLogLine(line))
        appendSummary(escapeMarkdown(toLogLine(line)))
        return 0
      })
    } catch (error) {
      code = Math.max(code, reportFailure(error))
    }
  }
  return code
}

const WRITES_STARTED = { access: 'write', startedOnly: true } as const

/** The work of the judge job, which serves one campaign in a run. */
interface CampaignItems {
  campaign: string
  items: JobFile<ItemsToJudge>
}

/** `items` are the input of the judge job. Null: it has no work. */
type TurnResult = CampaignTurn & { items: JobFile<ItemsToJudge> | null }

/** Adds the events of every accepted push to `written`. */
async function runTurn(call: Call, run: ActionsRun, written: LedgerEvent[]): Promise<TurnResult> {
  const turns: TurnResult[] = []
  await withCampaign(call, { access: 'write', startedOnly: false, announce: true }, async command => {
    const { campaignContext: context } = command
    const isLedger = (ref: string) => ref === context.refs.state
    const repository = announceEvents(context.repository, isLedger, event => written.push(event))
    const recorded = { ...command, campaignContext: { ...context, repository } }
    turns.push(await tickOnce(call, await openOrStartCampaign(call, recorded), run))
    return 0
  })
  const [turn] = turns
  if (turn === undefined) throw new Error('a campaign had no turn')
  return turn
}

async function tickOnce(call: Call, command: CommandContext, run: ActionsRun): Promise<TurnResult> {
  const { campaignContext: context } = command
  const workflows = context.forge?.workflows
  if (workflows === undefined) throw new Error('this forge runs no workflows')
  const done = await runActionsTick(context, workflows, { ...run, runComments: runComments(call, command) })
  const { waiting, seen, refusals, orders, started, toJudge: items } = done
  if (seen === null) throw new Error(`campaign ${context.name} was started and is not there`)
  const { campaign } = seen.world
  const warnWithoutJob = (job: string, what: string) =>
    call.environment.progress.say(
      `${context.name}: this workflow has no ${job} job, so winnow requests no ${what}; winnow init --github writes one.`,
    )
  if (waiting.for === 'ideas' && !run.has.propose && seen.world.askable.length > 0)
    warnWithoutJob('propose', 'ideas')
  if (waiting.for === 'judges' && !run.has.judge) warnWithoutJob('judge', 'scores')
  const resumeHint = describeResumeHint(campaign)
  const turn = {
    campaign: context.name,
    status: campaign.status,
    waiting,
    verdicts: countVerdicts(campaign),
    orders,
    started,
    branch: toShortRef(context.refs.optimize),
    propose: campaign.status === 'running' && hasOpenAskings(context, campaign) && run.next.propose,
    judge: items !== null,
    refused: refusals.map(({ message }) => message),
    items,
  }
  return resumeHint === null ? turn : { ...turn, to_go_on: resumeHint }
}

// Reports

export interface CampaignTurn {
  campaign: string
  status: Campaign['status']
  waiting: PlanWaiting
  verdicts: Tally
  /** Orders that the jobs of this run measure. */
  orders: ActionsTick['orders']
  started: ActionsTick['started']
  /** Branch against which people open pull requests with ideas. */
  branch: string
  /** Whether the propose job of this run has work. */
  propose: boolean
  /** Whether the judge job of this run has work. */
  judge: boolean
  /** Messages of the calls that GitHub refused. */
  refused: string[]
  /** How a person resumes a campaign that a limit of the spec stopped. */
  to_go_on?: string
}

/** Names of campaigns that were left for the next run, or that ended with an error. */
export type SkippedCampaigns = Record<'later' | 'broken', readonly string[]>

export function reportTurns(
  { env }: Task,
  turns: readonly CampaignTurn[],
  { later, broken, outputs }: SkippedCampaigns & { outputs: Outputs },
): void {
  for (const turn of turns) {
    const line = `${turn.campaign}: ${[describeWaiting(turn.waiting), ...describeNextTurn(turn)].join(' ')}`
    console.log(toLogLine(line))
    const links = turn.started.map(started => formatRunLink(env, started))
    appendSummary([escapeMarkdown(line, SUMMARY_LENGTH), ...links].join('\n'))
  }
  if (later.length > 0) {
    const line = toLogLine(`Left for the next run: ${later.join(', ')}.`)
    console.log(line)
    appendSummary(line)
  }
  const measuring = turns.find(({ orders }) => orders.length > 0)
  setOutputs({
    ...outputs,
    'result-json': JSON.stringify({ paused: false, campaigns: turns, later, broken }),
    propose: turns.find(({ propose }) => propose)?.campaign ?? '',
    campaign: measuring?.campaign ?? '',
    orders: measuring === undefined ? '' : JSON.stringify(measuring.orders),
  })
}

function describeNextTurn({ orders, started, waiting, branch, to_go_on }: CampaignTurn): string[] {
  const titles = [...new Set(orders.map(({ title }) => title))].join('; ')
  return [
    ...(orders.length === 0 ? [] : [`The next jobs of this run measure ${titles}.`]),
    ...started.map(({ run, title }) => `Started run${run === null ? '' : ` ${run}`} (${title}).`),
    ...(waiting.for === 'ideas' ? [`To submit an idea, open a pull request against ${branch}.`] : []),
    ...(to_go_on === undefined ? [] : [`To continue, ${to_go_on}.`]),
  ]
}

function formatRunLink(
  { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository }: ActionEnv,
  { run, title }: ActionsTick['started'][number],
): string {
  const text = escapeMarkdown(title, SUMMARY_LENGTH)
  const isKnown = run !== null && server !== undefined && repository !== undefined
  return isKnown ? `- [${text}](${server}/${repository}/actions/runs/${run})` : `- ${text}`
}

/** Sets no outputs for other jobs, because the dry run wrote no orders for them. */
export function reportDryRun(campaigns: readonly DryRunTurn[], rest: SkippedCampaigns): void {
  appendSummary('Dry run: nothing was written. The log lists what would be written.')
  const result = { paused: false, dry_run: true, campaigns, ...rest }
  setOutputs({ 'result-json': JSON.stringify(result) })
}

// Dry runs

/** The pushes and GitHub calls that one campaign would make, in words. */
export interface DryRunTurn {
  campaign: string
  would: string[]
}

/** A real tick on a repository and a forge that reject writes. Skips comments: it cannot reply. */
export async function runDryTurn(
  environment: Call['environment'],
  campaign: string,
  run: ActionsRun,
): Promise<DryRunTurn> {
  const would: string[] = []
  const call = createCall(environment, { campaign, 'dry-run': true })
  const out = (text: string): void => {
    would.push(text)
    call.terminal.out(text)
  }
  const dryCall = { ...call, terminal: { ...call.terminal, out } }
  await withCampaign(dryCall, { access: 'write', startedOnly: false }, async command => {
    await tickDryRun(dryCall, await openOrStartCampaign(dryCall, command), run)
    return 0
  })
  return { campaign, would }
}

async function tickDryRun(
  { terminal }: Call,
  { campaignContext: context }: CommandContext,
  run: ActionsRun,
): Promise<void> {
  const forge = createDryRunForge(requireForge(context), line => terminal.out(line))
  if (forge.workflows === undefined) throw new Error('this forge runs no workflows')
  try {
    const { waiting } = await runActionsTick({ ...context, forge }, forge.workflows, run)
    terminal.out(describeWaiting(waiting))
  } catch (error) {
    if (!(error instanceof WouldChange)) throw error
  }
}

// Other jobs of the run

/** The token of the judge job cannot read the items itself. */
export function writeItemsFile(env: ActionEnv, toJudge: CampaignItems | null): Outputs {
  if (toJudge === null) return {}
  const file = createJobFile(env, { content: 'items' })
  file.write(serializeJobFile('items', toJudge.items))
  return { judge: toJudge.campaign, items: file.path }
}

const JOBS = ['measure', 'propose', 'judge', 'attest']

export function readNextJobs(inputs: Inputs): AskingJobs & { attest: boolean } {
  const named = inputs['next-jobs'].split(/[\s,]+/).filter(name => name !== '')
  const unknown = named.find(name => !JOBS.includes(name))
  if (unknown !== undefined) throw createNextJobsError(`the input next-jobs names ${JSON.stringify(unknown)}`)
  // A dry run issues no orders.
  if (!named.includes('measure') && !inputs.isDryRun)
    throw createNextJobsError(
      'the input next-jobs does not contain measure, so no job would measure the orders of this tick',
    )
  return {
    propose: named.includes('propose'),
    judge: named.includes('judge'),
    attest: named.includes('attest'),
  }
}

function createNextJobsError(what: string): UserError {
  return new UserError(what, {
    fix: `name the jobs of this workflow file that follow: ${JOBS.join(', ')}; winnow init --github writes it`,
  })
}
