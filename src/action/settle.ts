import type { Call } from '../verbs/call.ts'
import type { Task } from './commands.ts'
import { type GithubJob, githubJob, isPaused, surroundingsOf } from './github-job.ts'
import { readNeeds } from './needs.ts'
import { tellPaused } from './tell-turns.ts'
import { readCampaigns, takeTurns } from './tick.ts'
import { callOf } from './verb-call.ts'

/** The last job of a run: takes in what its other jobs answered, scored and measured, then ticks. */
export async function settleOnGithub(task: Task): Promise<number> {
  if (isPaused(task.env)) return tellPaused(task)
  const job = githubJob(task)
  return settleIn(task, job, surroundingsOf(task, job))
}

export async function settleIn(task: Task, job: GithubJob, around: Call['around']): Promise<number> {
  const { campaigns: names, ended, has } = readNeeds(task.inputs.jobs)
  const known = await readCampaigns(callOf(around, {}), job)
  const campaigns = known.filter(({ name }) => names.includes(name))
  const next = { propose: false, judge: false }
  return takeTurns(task, { around, campaigns, run: { does: { settle: ended }, next, has } })
}
