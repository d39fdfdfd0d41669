import { isRetryTitle } from '../report/run-names.ts'
import type { Call } from '../verbs/call.ts'
import type { KnownCampaign } from '../verbs/known-campaigns.ts'
import type { Task } from './commands.ts'
import { type GithubJob, readGithubJob, isPaused, buildJobEnvironment } from './github-job.ts'
import { readDispatchTitle } from './dispatch-title.ts'
import type { ActionEnv } from './inputs.ts'
import { findMeasuringCampaign } from './measuring-branch.ts'
import { readNeeds } from './needs.ts'
import { reportPaused } from './tell-turns.ts'
import { readCampaigns, takeTurns } from './tick.ts'
import { createCall } from './verb-call.ts'

/**
 * The last job of a run: takes in what its other jobs answered, scored and measured, then ticks. Where the first job was
 * lost, it does that job's work.
 */
export async function settleOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return reportPaused(task)
  const job = readGithubJob(task)
  return settleCampaigns(task, job, buildJobEnvironment(task, job))
}

export async function settleCampaigns(task: Task, job: GithubJob, around: Call['around']): Promise<number> {
  const { campaigns: names, ended, has, isTickLost } = readNeeds(task.inputs.jobs)
  const known = await readCampaigns(createCall(around, {}), job)
  const campaigns = isTickLost
    ? campaignsOfRun(task.env, known)
    : known.filter(({ name }) => names.includes(name))
  const next = { propose: false, judge: false }
  const nextLook = isTickLost ? nextLookAfterLoss(task.env) : 'usual'
  return takeTurns(task, { around, campaigns, run: { does: { settle: ended }, next, has, nextLook } })
}

function campaignsOfRun(env: ActionEnv, known: readonly KnownCampaign[]): readonly KnownCampaign[] {
  const measuring = findMeasuringCampaign(env, known)
  return measuring === undefined ? known : [measuring]
}

/**
 * A lost order is counted in the ledger, and too many of them put the next run off. A tick that was lost before it asked
 * anything left nothing to count, so a run that was started for such a loss starts no other one for its own.
 */
function nextLookAfterLoss(env: ActionEnv): 'retry' | 'none' {
  return isRetryTitle(readDispatchTitle(env)) ? 'none' : 'retry'
}
