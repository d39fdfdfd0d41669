import { z } from 'zod'

/** Where the pull requests of a campaign are kept: beside its branches, or on GitHub. */
export const host = z.enum(['local', 'github'])
export type Host = z.infer<typeof host>

const ACTIONS = 'actions:'

/** What events and askings call a run of GitHub Actions. */
export function actionsRun(id: string | number): string {
  return `${ACTIONS}${id}`
}

export function ofActions({ run_id }: { run_id: string }): boolean {
  return run_id.startsWith(ACTIONS)
}
