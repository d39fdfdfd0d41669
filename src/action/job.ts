import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { JobEnvironment } from '../engine/jobs/job-clone.ts'
import { UserError } from '../errors.ts'
import { formatActionsRun } from '../model/ids.ts'
import type { Clock, RandomSource } from '../ports.ts'
import { type ActionEnv, resolveInWorkspace } from './inputs.ts'
import { toLogLine } from './outputs.ts'

/** All jobs and all attempts of a run share this id. */
export function readRunId({ GITHUB_RUN_ID: run = '' }: ActionEnv): string {
  if (/^\d+$/.test(run)) return formatActionsRun(run)
  throw new UserError('GITHUB_RUN_ID is not set: this command runs in a job of GitHub Actions')
}

export function readAttempt({ GITHUB_RUN_ATTEMPT: attempt = '' }: ActionEnv): number {
  return Number(attempt) || 1
}

interface PrefixedCampaign {
  name: string
  prefix: string
}

/** Undefined: this run measures no campaign. */
export function findMeasuringCampaign<T extends PrefixedCampaign>(
  env: ActionEnv,
  campaigns: readonly T[],
): T | undefined {
  const { GITHUB_EVENT_NAME: event = '', GITHUB_REF: ref = '' } = env
  if (event !== 'workflow_dispatch') return undefined
  return campaigns.find(({ name, prefix }) => ref === `refs/heads/${prefix}/${name}`)
}

/** Caches of the default branch reach every other workflow. Those of the campaign's branch do not. */
export function requireMeasuringBranch(
  { GITHUB_REF: ref = '' }: ActionEnv,
  campaign: string,
): { prefix: string } {
  const start = 'refs/heads/'
  const end = `/${campaign}`
  const prefix = ref.slice(start.length, -end.length)
  if (ref.startsWith(start) && ref.endsWith(end) && prefix !== '') return { prefix }
  throw new UserError(
    `this run is on ${ref || 'no branch'}, but orders of campaign ${campaign} are measured only on its campaign branch`,
    { fix: 'do not start this job by hand: a tick starts it on that branch' },
  )
}

/** Resolves early, without an error, when the signal aborts. */
export async function sleepUntilAborted(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(milliseconds, undefined, signal === undefined ? {} : { signal })
  } catch (error) {
    if (signal?.aborted !== true) throw error
  }
}

export const SYSTEM_CLOCK: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: sleepUntilAborted,
}

export const SYSTEM_RANDOM: RandomSource = {
  hex: bytes => randomBytes(bytes).toString('hex'),
  fraction: () => Math.random(),
}

export function getTempDir(env: ActionEnv): string {
  return resolve(env['RUNNER_TEMP'] ?? tmpdir())
}

export function watchForInterrupt(): AbortController {
  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.abort())
  return interrupted
}

/** The surroundings of a job that reads a clone and answers requests of the ledger. */
export function readJobEnvironment(
  env: ActionEnv,
  { campaign, directory }: { campaign: string; directory: string },
  signal: AbortSignal,
): JobEnvironment {
  return {
    directory: resolveInWorkspace(env, directory),
    campaign,
    workDir: join(getTempDir(env), 'winnow'),
    env,
    runId: readRunId(env),
    attempt: readAttempt(env),
    clock: SYSTEM_CLOCK,
    random: SYSTEM_RANDOM,
    progress: { say: line => console.log(toLogLine(line)) },
    signal,
  }
}
