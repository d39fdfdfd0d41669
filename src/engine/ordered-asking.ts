import { join } from 'node:path'
import type { PendingProposal } from '../model/asked.ts'
import type { Campaign } from '../model/campaign.ts'
import { listPendingProposals } from '../model/fold-asking.ts'
import { toOneLine } from '../model/landing.ts'
import type { Clock, ProgressReporter } from '../ports.ts'
import type { Answers, GivenAnswer } from '../propose/answers-file.ts'
import type { AgentResult } from '../propose/command.ts'
import { withModelKey } from '../propose/presets.ts'
import { getProposerName } from '../propose/proposer-name.ts'
import type { Spec } from '../spec/schema.ts'
import type { Repository } from '../git/repository.ts'
import { FIRST_ATTEMPT } from './actions/run-role.ts'
import { askProgram } from './ask-program.ts'
import { findCloneCampaign, type JobClone, openJobClone } from './job-clone.ts'
import { WorkerSlots } from './lanes.ts'
import { fetchCommit } from './ordered-trees.ts'
import { claimFreeWorkDir } from './work-dirs.ts'

/** The askings that one run's tick wrote into the ledger, in a job of their own: it reads a clone and writes nothing. */
export interface AskingJob extends JobClone {
  campaign: string
  runId: string
  attempt: number
  /** Of models, for programs that know it under a name of their own. */
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

/** Any prefix would do: nothing is written. */
const PREFIX = 'optimize'

/** Who is asked, for what and on which commit is read from the ledger: whoever starts a job can only name the campaign. */
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
    const scene = { job, repository, campaign, spec }
    const lanes = new WorkerSlots()
    const began = job.clock.monotonic()
    const all = await Promise.all(own.map(asking => collectAnswer(scene, asking, lanes)))
    const elapsed = (job.clock.monotonic() - began) / 60_000
    if (all.every(({ broken }) => broken !== undefined)) throw all[0]?.broken
    const answers = shareMinutes(
      all.map(({ answer }) => answer),
      elapsed,
    )
    return { winnow: 1, campaign: campaign.name, started: campaign.started, answers }
  } finally {
    await repository.close()
  }
}

/** Programs that were asked beside each other share the minutes of one job, so that their sum is what it took. */
export function shareMinutes(answers: readonly GivenAnswer[], elapsed: number): GivenAnswer[] {
  const all = answers.reduce((sum, { minutes }) => sum + minutes, 0)
  const share = all > 0 ? Math.min(1, elapsed / all) : 0
  return answers.map(answer => ({ ...answer, minutes: answer.minutes * share }))
}

interface AnswerOrError {
  answer: GivenAnswer
  /** What came between us and the program: it costs this answer, and nobody else's. */
  broken?: unknown
}

/** As on one machine, as many at once as the spec allows. */
async function collectAnswer(
  scene: AskingJobContext,
  asking: PendingProposal,
  lanes: WorkerSlots,
): Promise<AnswerOrError> {
  const { job, spec } = scene
  const { key, who } = asking
  const timely = AbortSignal.timeout(Date.parse(asking.until) - job.clock.now())
  const signal = AbortSignal.any([job.signal, timely])
  const lane = await lanes.enter({ limit: spec.execution.max_concurrent, alone: false }, signal)
  job.signal.throwIfAborted()
  const began = job.clock.monotonic()
  const minutes = () => (job.clock.monotonic() - began) / 60_000
  const late = { key, who, ok: false, reason: `the answer of ${who} was due by ${asking.until}` } as const
  if (lane === null) return { answer: { ...late, minutes: 0 } }
  try {
    const asked = await askProposer(scene, asking, { lane, signal })
    job.progress.say(asked.ok ? `${who}: one idea` : `${who}: no idea, ${asked.reason}`)
    return { answer: { key, who, minutes: minutes(), ...(await toToldAnswer(scene, asking, asked)) } }
  } catch (error) {
    if (job.signal.aborted) throw error
    if (timely.aborted) return { answer: { ...late, minutes: minutes() } }
    const message = error instanceof Error ? error.message : String(error)
    const reason = `${who} could not be asked: ${toOneLine(message, 300)}`
    job.progress.say(reason)
    return { answer: { key, who, minutes: minutes(), ok: false, reason }, broken: error }
  } finally {
    lanes.leave(lane)
  }
}

async function askProposer(
  { job, repository, campaign, spec }: AskingJobContext,
  { who, carries, angle, base }: PendingProposal,
  { lane, signal }: { lane: number; signal: AbortSignal },
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
    workDir: await claimFreeWorkDir(join(workDir, 'propose'), lane),
  }
  const env = withModelKey(proposer, modelKey, job.env)
  return askProgram({ repository, clock, env }, asking, { campaign, spec, signal })
}

type ToldAnswer =
  | { ok: false; reason: string }
  | Omit<Extract<GivenAnswer, { ok: true }>, 'key' | 'who' | 'minutes'>

async function toToldAnswer(
  { repository }: AskingJobContext,
  { base }: PendingProposal,
  asked: AgentResult,
): Promise<ToldAnswer> {
  if (!asked.ok) return asked
  const { idea, learnings, commit } = asked
  const { tree } = await repository.commit(commit)
  const patch = await repository.patchBetween(base.tree, tree)
  return { ok: true, base: base.commit, ...idea, learnings, patch }
}
