import { UserError } from '../errors.ts'
import { formatActionsRun } from '../model/host.ts'
import type { ActionEnv } from './inputs.ts'

/** What events and askings call this run: all jobs of it, and all its attempts. */
export function readRunId({ GITHUB_RUN_ID: run = '' }: ActionEnv): string {
  if (/^\d+$/.test(run)) return formatActionsRun(run)
  throw new UserError('GITHUB_RUN_ID is not set: this command runs in a job of GitHub Actions')
}

/** Which attempt of its run this job belongs to. */
export function readAttempt({ GITHUB_RUN_ATTEMPT: attempt = '' }: ActionEnv): number {
  return Number(attempt) || 1
}
