import { atRepository } from '../verbs/at-campaign.ts'
import type { Call } from '../verbs/call.ts'
import { DEFAULT_PREFIX } from '../verbs/known-campaigns.ts'
import { run } from '../verbs/run.ts'
import type { Task } from './commands.ts'
import { githubJob, isPaused, surroundingsOf } from './github-job.ts'
import { keptFiles } from './kept-files.ts'
import { failed, setOutputs, summarise } from './runner-protocol.ts'
import { requireOwnRemote } from './own-remote.ts'
import { callOf } from './verb-call.ts'

/**
 * Single-job mode: this job measures as well, beside the token it holds. For repositories in which everybody who can
 * bring an experiment is trusted with that token.
 */
export async function runOnGithub(task: Task): Promise<number> {
  const { env, inputs } = task
  if (isPaused(env)) {
    const line = 'WINNOW_PAUSED is set: nothing was looked at.'
    console.log(line)
    summarise(env, line)
    setOutputs(env, { 'result-json': JSON.stringify({ paused: true }) })
    return 0
  }
  const job = githubJob(task)
  const kept = keptFiles(env)
  const around = { ...measuringHere(surroundingsOf(task, job)), keepUnwritten: kept.keep }
  const call = callOf(around, {
    campaign: inputs.campaign,
    yes: true,
    json: true,
  })
  await atRepository(call, DEFAULT_PREFIX, async ({ checkout }) => requireOwnRemote(checkout.remotes, job))
  let answer: unknown = null
  const json = (value: unknown): void => {
    answer = value
  }
  try {
    const code = await run.run({ ...call, terminal: { ...call.terminal, json } })
    const result = JSON.stringify({ paused: false, code, ...asRecord(answer) })
    setOutputs(env, { ...kept.tell(env), 'result-json': result })
    return WAITING_IS_FINE.has(code) ? 0 : code
  } catch (error) {
    return failed(env, error, kept.tell(env))
  }
}

/** It dispatches nothing, so what a spec asks of measuring jobs is refused and not passed over. */
function measuringHere(around: Call['around']): Call['around'] {
  const { forge } = around
  if (forge === undefined) return around
  return {
    ...around,
    forge: refs => {
      const { workflows: _, ...withoutJobs } = forge(refs)
      return withoutJobs
    },
  }
}

/** Verdicts and waiting are what a campaign does: a job is red where something is broken. */
const WAITING_IS_FINE: ReadonlySet<number> = new Set([0, 10, 11, 12, 14])

function asRecord(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {}
}
