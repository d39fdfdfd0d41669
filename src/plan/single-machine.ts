import type { World } from './world.ts'

/** So many reports in a row from one machine, where there were others before, say that the others are gone. */
const REPORTS_IN_A_ROW = 3
/** As many as a calibration has jobs. */
const FIRST_REPORTS = 2

/**
 * Whether there is only one machine: this one, or one self-hosted runner that measured every job. A fresh runner would
 * be waited for without end there (decision.md 3.3). GitHub starts its own runners anew for each job.
 */
export function hasSingleMachine({ runner, campaign }: Pick<World, 'runner' | 'campaign'>): boolean {
  if (runner.runId !== null) return true
  const { in_a_row, reports } = campaign.machine
  return in_a_row >= REPORTS_IN_A_ROW || (in_a_row >= FIRST_REPORTS && in_a_row === reports)
}
