import { join } from 'node:path'
import { readTreeFile } from '../../git/tree.ts'
import { type AgentResult, askAgent, getBriefPath } from '../../ideas/agent.ts'
import type { GivenAnswer } from '../../ideas/answers-file.ts'
import { renderBrief } from '../../ideas/brief.ts'
import { buildHistoryPath, type PriorResult, readHistoryFile } from '../../ideas/prior-results.ts'
import {
  buildAgentCommand,
  type CommandProposer,
  findMissingAgent,
  nameProposers,
  withModelKey,
} from '../../ideas/proposers.ts'
import { MODEL_KEY } from '../../measure/environment.ts'
import type { Owner } from '../../measure/process/reaper.ts'
import {
  type BacklogIdea,
  type Campaign,
  getIncumbentMetrics,
  getIncumbentTasks,
  type PendingProposal,
} from '../../model/campaign.ts'
import { listPendingProposals, TEXT_GRADIENT } from '../../model/fold/proposers.ts'
import { buildCampaignRefs, type Point } from '../../model/ids.ts'
import type { ModelCost } from '../../model/report.ts'
import { toOneLine } from '../../model/text.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../campaign/context.ts'
import { readEarlierResults } from '../campaign/earlier-results.ts'
import {
  type ClonedCampaign,
  fetchCommit,
  handleRequests,
  type JobAnswers,
  type JobEnvironment,
  limitRequest,
} from './job-clone.ts'
import { type AskedRewrite, askForRewrite } from './rewrite-job.ts'
import { claimFreeWorkDir, WorkerSlots } from './worker-slots.ts'

interface ProposeJob extends JobEnvironment {
  /** Key of the model API, for programs that expect it under another variable. */
  modelKey: string
}

export function runProposeJob(job: ProposeJob): Promise<JobAnswers<GivenAnswer>> {
  return handleRequests(job, {
    listRequests: campaign => (campaign.status === 'running' ? listPendingProposals(campaign) : []),
    async answer(cloned, requests) {
      const slots = new WorkerSlots()
      const began = job.clock.monotonic()
      const { state } = buildCampaignRefs(cloned.spec.branches.prefix, cloned.spec.name)
      const earlier = await readEarlierResults(cloned.repository, { state })
      const context = { job, cloned, slots, earlier }
      const all = await Promise.all(requests.map(request => collectAnswer(context, request)))
      const minutes = (job.clock.monotonic() - began) / 60_000
      const isBroken = all.every(({ error }) => error !== undefined)
      if (isBroken) throw all[0]?.error
      return {
        answers: shareMinutes(
          all.map(({ answer }) => answer),
          minutes,
        ),
        error: null,
      }
    },
  })
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

interface ProposeJobContext {
  job: ProposeJob
  cloned: ClonedCampaign
  slots: WorkerSlots
  /** Results of archived and other campaigns. */
  earlier: readonly PriorResult[]
}

async function collectAnswer(context: ProposeJobContext, request: PendingProposal): Promise<AnswerOrError> {
  const { job, cloned, slots } = context
  const { key, who, until } = request
  const { deadline, signal } = limitRequest(job, until)
  const slot = await slots.enter({ limit: cloned.spec.execution.max_concurrent, alone: false }, signal)
  job.signal.throwIfAborted()
  const began = job.clock.monotonic()
  let spent: { cost?: ModelCost } = {}
  const toFailed = (reason: string) => {
    job.progress.say(`No idea from ${who}: ${reason}`)
    const minutes = (job.clock.monotonic() - began) / 60_000
    return { key, who, ok: false as const, reason, minutes, ...spent }
  }
  if (slot === null) return { answer: toFailed(`the answer was due by ${until}`) }
  try {
    const { result, error, ...paid } = await askProposer(context, request, { slot, signal })
    spent = paid
    if (error !== undefined) return { answer: { ...toFailed(error.message), unasked: true } }
    if (!result.ok) return { answer: toFailed(result.reason) }
    const { idea, learnings, commit } = result
    const { tree } = await cloned.repository.commit(commit)
    const patch = await cloned.repository.patchBetween(request.base.tree, tree)
    job.progress.say(`${who}: one idea`)
    const minutes = (job.clock.monotonic() - began) / 60_000
    const base = request.base.commit
    return { answer: { key, who, minutes, ...spent, ok: true, base, ...idea, learnings, patch } }
  } catch (error) {
    if (job.signal.aborted) throw error
    if (deadline.aborted) return { answer: toFailed(`the answer was due by ${until}`) }
    const message = error instanceof Error ? error.message : String(error)
    return { answer: toFailed(`${who} could not be asked: ${toOneLine(message, 300)}`), error }
  } finally {
    slots.leave(slot)
  }
}

async function askProposer(
  { job, cloned: { repository, loaded, spec }, earlier }: ProposeJobContext,
  { who, carries, angle, base, may_cost_usd }: PendingProposal,
  { slot, signal }: { slot: number; signal: AbortSignal },
): Promise<Pick<AskedRewrite, 'result' | 'error'> & { cost?: ModelCost }> {
  const { campaign } = loaded
  if (who === TEXT_GRADIENT && spec.propose.some(({ use }) => use === 'textgrad')) {
    await fetchCommit(repository, base.commit)
    const { clock, random } = job
    const env = { ...job.env, [MODEL_KEY]: job.modelKey }
    const request = { campaign, spec, base, earlier, mayCostUsd: may_cost_usd, signal }
    return askForRewrite({ repository, clock, random, env }, request)
  }
  const proposer = nameProposers(spec.propose).find(({ name }) => name === who)?.proposer
  if (proposer === undefined) return { result: { ok: false, reason: `the spec has no proposer ${who}` } }
  await fetchCommit(repository, base.commit)
  const idea = campaign.backlog.find(({ id }) => id === carries) ?? null
  const workDir = await claimFreeWorkDir(join(job.workDir, 'propose'), slot)
  const env = withModelKey(proposer, job.modelKey, job.env)
  const request = { who, proposer, idea, angle, base, workDir }
  return {
    result: await askProgram({ repository, clock: job.clock, env }, request, {
      campaign,
      spec,
      earlier,
      signal,
    }),
  }
}

interface ProgramRequest {
  who: string
  proposer: CommandProposer | undefined
  idea: BacklogIdea | null
  /** The direction to explore when several proposers run without a backlog idea. */
  angle?: string | null
  /** Absolute path, used by one request at a time. */
  workDir: string
  /** Runs as this user; as the current user if absent. */
  owner?: Owner
  /** The incumbent by default. */
  base?: Point
}

export async function askProgram(
  { repository, env, clock }: Pick<CampaignContext, 'repository' | 'env' | 'clock'>,
  { who, proposer, idea, angle = null, workDir, owner, base }: ProgramRequest,
  {
    campaign,
    spec,
    earlier,
    signal,
  }: { campaign: Campaign; spec: Spec; earlier: readonly PriorResult[]; signal: AbortSignal },
): Promise<AgentResult> {
  const missing = proposer && (await findMissingAgent([proposer], env))
  if (missing) return { ok: false, reason: missing.what }
  const incumbent = base ?? campaign.incumbent
  const history = await readTreeFile(repository, incumbent.tree, buildHistoryPath(campaign.name))
  const text = renderBrief({
    campaign,
    spec,
    incumbentMetrics: getIncumbentMetrics(campaign),
    incumbentTasks: getIncumbentTasks(campaign),
    idea,
    angle,
    priorResults: history === null ? [] : readHistoryFile(history),
    earlier,
  })
  const command = proposer && buildAgentCommand(proposer, { text, file: getBriefPath(workDir) })
  if (!proposer || command == null) return { ok: false, reason: `the spec has no proposer ${who}` }
  return askAgent({
    repo: repository,
    incumbent,
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
