import type { WorkflowRun, Workflows } from '../../github/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { formatActionsRunId } from '../../model/report-artifact.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { EndedRun, RunArtifacts } from './run-artifacts.ts'

/**
 * Only the first attempt of a run measures an order: another attempt would be another draw of the same
 * measurement.
 */
export const FIRST_ATTEMPT = 1
const JOB_RUN_ID = /^actions:(\d+)\/1$/

export type RunRole =
  /** Runs on the default branch, and later attempts, only start other runs. */
  { does: 'start' } | { does: 'measure' } | { does: 'settle'; ended: EndedRun; artifacts: RunArtifacts }

/** The id by which orders name the run of this process. */
export function getJobRunId({ by }: Pick<CampaignContext, 'by'>): string {
  return `${by.run_id}/${FIRST_ATTEMPT}`
}

export function toJobRunId(run: number): string {
  return formatActionsRunId(run, FIRST_ATTEMPT)
}

export function parseRunNumber(runId: string): number {
  return Number(JOB_RUN_ID.exec(runId)?.[1])
}

/** Orders without a report, except those of local runs elsewhere. */
export function listWaitingOrders({ orders }: Campaign): LiveOrder[] {
  return Object.values(orders).filter(
    ({ report, run_id }) => report === null && (run_id === null || JOB_RUN_ID.test(run_id)),
  )
}

/** Reads a run with one request; null when it no longer exists. */
export type ReadRun = (run: number) => Promise<WorkflowRun | null>

export function createRunLookup(workflows: Workflows): ReadRun {
  const looked = new Map<number, Promise<WorkflowRun | null>>()
  return run => {
    const answer = looked.get(run) ?? workflows.run(run)
    looked.set(run, answer)
    return answer
  }
}

const ACTIONS_RUN_ID = /^actions:(\d+)$/

export type FindLost = <T extends { run_id: string }>(
  open: readonly T[],
) => Promise<{ asking: T; reason: string }[]>

/** Finds requests to proposers and judges whose run has ended, so that no job answers them any more. */
export function createLostFinder({ by }: Pick<CampaignContext, 'by'>, lookAt: ReadRun): FindLost {
  return async open => {
    const all = open
      .filter(({ run_id }) => run_id !== by.run_id)
      .map(async asking => ({ asking, reason: await explainLostAsking(asking, lookAt) }))
    return (await Promise.all(all)).flatMap(({ asking, reason }) =>
      reason === null ? [] : [{ asking, reason }],
    )
  }
}

async function explainLostAsking({ run_id }: { run_id: string }, lookAt: ReadRun): Promise<string | null> {
  const number = ACTIONS_RUN_ID.exec(run_id)?.[1]
  const conclusion = number === undefined ? null : ((await lookAt(Number(number)))?.conclusion ?? null)
  // A deleted run tells no result. The request ends by its own deadline.
  if (conclusion === null) return null
  return `workflow run ${number} ended (${conclusion}) and its answers were not taken in`
}
