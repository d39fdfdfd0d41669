import { z } from 'zod'

/** Where the pull requests of a campaign are kept: beside its branches, or on GitHub. */
export const hostSchema = z.enum(['local', 'github'])
export type Host = z.infer<typeof hostSchema>

const ACTIONS_PREFIX = 'actions:'

/** What events and askings call a run of GitHub Actions. */
export function formatActionsRun(id: string | number): string {
  return `${ACTIONS_PREFIX}${id}`
}

export function isActionsRun({ run_id }: { run_id: string }): boolean {
  return run_id.startsWith(ACTIONS_PREFIX)
}
