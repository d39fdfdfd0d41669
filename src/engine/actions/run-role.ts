import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { formatActionsRunId } from '../../model/parcel.ts'
import type { CampaignContext } from '../place.ts'
import type { EndedRun } from './ended-run.ts'
import type { RunArtifacts } from './run-artifacts.ts'

/** An order is measured by the first attempt of one run: another attempt would be another roll of the dice. */
export const FIRST_ATTEMPT = 1
const OURS = /^actions:(\d+)\/1$/

/** What the run of this process does about orders. */
export type RunRole =
  /** Runs on the default branch, and later attempts, measure nothing: they start runs. */
  | { does: 'start' }
  /** Its own jobs measure what this tick takes. */
  | { does: 'measure' }
  /** Its own jobs have ended. */
  | { does: 'settle'; ended: EndedRun; artifacts: RunArtifacts }

/** As orders name the run of this process. */
export function getJobRunId({ by }: Pick<CampaignContext, 'by'>): string {
  return `${by.run_id}/${FIRST_ATTEMPT}`
}

/** As orders name a run that was started. */
export function toJobRunId(run: number): string {
  return formatActionsRunId(run, FIRST_ATTEMPT)
}

export function parseRunNumber(runId: string): number {
  return Number(OURS.exec(runId)?.[1])
}

/** Orders without a report, but for those of processes elsewhere. */
export function listWaitingOrders({ orders }: Campaign): LiveOrder[] {
  return Object.values(orders).filter(
    ({ report, run_id }) => report === null && (run_id === null || OURS.test(run_id)),
  )
}
