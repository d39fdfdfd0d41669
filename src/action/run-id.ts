import { UserError } from '../errors.ts'
import { actionsRun } from '../model/host.ts'
import type { Env } from './inputs.ts'

/** What events and askings call this run: all jobs of it, and all its attempts. */
export function runIdOf({ GITHUB_RUN_ID: run = '' }: Env): string {
  if (/^\d+$/.test(run)) return actionsRun(run)
  throw new UserError('GITHUB_RUN_ID is not set: this command runs in a job of GitHub Actions')
}

/** Which attempt of its run this job belongs to. */
export function attemptOf({ GITHUB_RUN_ATTEMPT: attempt = '' }: Env): number {
  return Number(attempt) || 1
}
