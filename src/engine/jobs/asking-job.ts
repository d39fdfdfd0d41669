import { join } from 'node:path'
import type { Repository } from '../../git/repository.ts'
import { type AgentResult, askAgent, getBriefPath } from '../../ideas/agent.ts'
import type { Answers, GivenAnswer } from '../../ideas/answers-file.ts'
import { renderBrief } from '../../ideas/brief.ts'
import {
  buildAgentCommand,
  type CommandProposer,
  findMissingAgent,
  getProposerName,
  withModelKey,
} from '../../ideas/proposers.ts'
import type { Owner } from '../../measure/process/reaper.ts'
import {
  type BacklogIdea,
  type Campaign,
  getIncumbentMetrics,
  type PendingProposal,
} from '../../model/campaign.ts'
import { listPendingProposals } from '../../model/fold/proposers.ts'
import type { Point } from '../../model/ids.ts'
import { toOneLine } from '../../model/text.ts'
import type { Clock, ProgressReporter } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { FIRST_ATTEMPT } from './github-runs.ts'
import { fetchCommit, findCloneCampaign, type JobClone, openJobClone } from './load-order.ts'
import { claimFreeWorkDir, WorkerSlots } from './worker-slots.ts'

/**
 * Runs the proposers that one run's tick recorded, in a job of its own. It reads a clone and writes no ref.
 */
interface AskingJob extends JobClone {
  campaign: string
  runId: string
  attempt: number
  /** Key of the model API, for programs that expect it under another variable. */
  modelKey: string
  clock: Clock
  progress: ProgressReporter
  signal: AbortSignal
}

interface AskingJobContext {
  job: AskingJob
  repository: Repository
  campaign: Campaign
  spec: Spec
}

/** Any prefix works, because the job writes no ref. */
const PREFIX = 'optimize'

/**
 * Reads proposers, ideas and base commit from the ledger, because the starter of a job can only name the
 * campaign.
 */
export async function runAskingJob(job: AskingJob): Promise<Answers | { nobody: string }> {
  if (job.attempt !== FIRST_ATTEMPT)
    return {
      nobody: 'this run was started again, and its first attempt alone asks for ideas; the next wake-up does',
    }
  const { repository } = await openJobClone(job, PREFIX)
  try {
    const { loaded, spec } = await findCloneCampaign(repository, job.campaign)
    const { campaign } = loaded
    if (campaign.status !== 'running') return { nobody: `campaign ${campaign.name} is ${campaign.status}` }
    const now = job.clock.now()
    const own = listPendingProposals(campaign).filter(
      ({ run_id, until }) => run_id === job.runId && Date.parse(until) > now,
    )
    if (own.length === 0)
      return { nobody: `no proposer of campaign ${campaign.name} was to be asked in this run` }
    const request = { job, repository, campaign, spec }
    const slots = new WorkerSlots()
    const began = job.clock.monotonic()
    const all = await Promise.all(own.map(asking => collectAnswer(request, asking, slots)))
    const elapsed = (job.clock.monotonic() - began) / 60_000
    if (all.every(({ error: broken }) => broken !== undefined)) throw all[0]?.error
    const answers = shareMinutes(
      all.map(({ answer }) => answer),
      elapsed,
    )
    return { winnow: 1, campaign: campaign.name, started: campaign.started, answers }
  } finally {
    await repository.close()
  }
}

/** Parallel proposers share the minutes of one job, so that their sum is the time it took. */
export function shareMinutes(answers: readonly GivenAnswer[], elapsed: number): GivenAnswer[] {
  const all = answers.reduce((sum, { minutes }) => sum + minutes, 0)
  const share = all > 0 ? Math.min(1, elapsed / all) : 0
  return answers.map(answer => ({ ...answer, minutes: answer.minutes * share }))
}

interface AnswerOrError {
  answer: GivenAnswer
  /** An error outside the program. It costs this answer only. */
  error?: unknown
}

/** Runs as many proposers at once as the spec allows, as on one machine. */
async function collectAnswer(
  context: AskingJobContext,
  asking: PendingProposal,
  slots: WorkerSlots,
): Promise<AnswerOrError> {
  const { job, spec } = context
  const { key, who } = asking
  const deadline = AbortSignal.timeout(Date.parse(asking.until) - job.clock.now())
  const signal = AbortSignal.any([job.signal, deadline])
  const slot = await slots.enter({ limit: spec.execution.max_concurrent, alone: false }, signal)
  job.signal.throwIfAborted()
  const began = job.clock.monotonic()
  const minutes = () => (job.clock.monotonic() - began) / 60_000
  const late = { key, who, ok: false, reason: `the answer of ${who} was due by ${asking.until}` } as const
  if (slot === null) return { answer: { ...late, minutes: 0 } }
  try {
    const result = await askProposer(context, asking, { slot, signal })
    job.progress.say(result.ok ? `${who}: one idea` : `${who}: no idea, ${result.reason}`)
    return {
      answer: { key, who, minutes: minutes(), ...(await toAnswerContent(context, asking, result)) },
    }
  } catch (error) {
    if (job.signal.aborted) throw error
    if (deadline.aborted) return { answer: { ...late, minutes: minutes() } }
    const message = error instanceof Error ? error.message : String(error)
    const reason = `${who} could not be asked: ${toOneLine(message, 300)}`
    job.progress.say(reason)
    return { answer: { key, who, minutes: minutes(), ok: false, reason }, error }
  } finally {
    slots.leave(slot)
  }
}

async function askProposer(
  { job, repository, campaign, spec }: AskingJobContext,
  { who, carries, angle, base }: PendingProposal,
  { slot, signal }: { slot: number; signal: AbortSignal },
): Promise<AgentResult> {
  const { clock, workDir, modelKey } = job
  const proposer = spec.propose.find(one => one.use === 'command' && getProposerName(one) === who)
  if (proposer?.use !== 'command') return { ok: false, reason: `the spec has no proposer ${who}` }
  await fetchCommit(repository, base.commit)
  const idea = campaign.backlog.find(({ id }) => id === carries) ?? null
  const asking = {
    who,
    proposer,
    idea,
    angle,
    base,
    workDir: await claimFreeWorkDir(join(workDir, 'propose'), slot),
  }
  const env = withModelKey(proposer, modelKey, job.env)
  return askProgram({ repository, clock, env }, asking, { campaign, spec, signal })
}

type AnswerContent =
  | { ok: false; reason: string }
  | Omit<Extract<GivenAnswer, { ok: true }>, 'key' | 'who' | 'minutes'>

async function toAnswerContent(
  { repository }: AskingJobContext,
  { base }: PendingProposal,
  result: AgentResult,
): Promise<AnswerContent> {
  if (!result.ok) return result
  const { idea, learnings, commit } = result
  const { tree } = await repository.commit(commit)
  const patch = await repository.patchBetween(base.tree, tree)
  return { ok: true, base: base.commit, ...idea, learnings, patch }
}

interface ProgramRequest {
  who: string
  proposer: CommandProposer | undefined
  /** The backlog idea to implement. */
  idea: BacklogIdea | null
  /** The direction to explore when several proposers run without a backlog idea. */
  angle?: string | null
  /** Absolute path, used by one request at a time. */
  workDir: string
  /** Runs as this user; as the current user if absent. */
  owner?: Owner
  /** The commit to edit; the incumbent by default. */
  base?: Point
}

/** Runs one proposer with the brief and a copy of the incumbent to edit. */
export async function askProgram(
  { repository, env, clock }: Pick<CampaignContext, 'repository' | 'env' | 'clock'>,
  { who, proposer, idea, angle = null, workDir, owner, base }: ProgramRequest,
  { campaign, spec, signal }: { campaign: Campaign; spec: Spec; signal: AbortSignal },
): Promise<AgentResult> {
  const missing = proposer && (await findMissingAgent([proposer], env))
  if (missing) return { ok: false, reason: missing.what }
  const text = renderBrief({ campaign, spec, incumbentMetrics: getIncumbentMetrics(campaign), idea, angle })
  const command = proposer && buildAgentCommand(proposer, { text, file: getBriefPath(workDir) })
  if (!proposer || command == null) return { ok: false, reason: `the spec has no proposer ${who}` }
  return askAgent({
    repo: repository,
    incumbent: base ?? campaign.incumbent,
    name: who,
    command,
    brief: text,
    timeoutSeconds: proposer.timeout_seconds,
    workDir,
    ...(owner === undefined ? {} : { owner }),
    env,
    signal,
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
  })
}
