import type { WorkflowRun, Workflows } from '../../github/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { formatActionsRunId } from '../../model/job-file.ts'
import type { EndedRun, RunArtifacts } from './run-artifacts.ts'

/** Another attempt of a run would be another draw of the same measurement. */
export const FIRST_ATTEMPT = 1
const JOB_RUN_ID = /^actions:(\d+)\/1$/

export type RunRole =
  /** Runs on the default branch, and later attempts, only start other runs. */
  { does: 'start' } | { does: 'measure' } | { does: 'settle'; ended: EndedRun; artifacts: RunArtifacts }

export function getJobRunId({ by }: { by: { run_id: string } }): string {
  return `${by.run_id}/${FIRST_ATTEMPT}`
}

export function toJobRunId(run: number): string {
  return formatActionsRunId(run, FIRST_ATTEMPT)
}

export function parseRunNumber(runId: string): number {
  return Number(JOB_RUN_ID.exec(runId)?.[1])
}

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

const ACTIONS_RUN = /^actions:(\d+)(?:\/1)?$/

/** The loss rule of all jobs on GitHub. A deleted run shows no result; its requests end by their deadline. */
export async function explainEndedRun(runId: string, lookAt: ReadRun): Promise<string | null> {
  const number = ACTIONS_RUN.exec(runId)?.[1]
  if (number === undefined) return null
  const conclusion = (await lookAt(Number(number)))?.conclusion ?? null
  return conclusion === null
    ? null
    : `workflow run ${number} ended (${conclusion}) before winnow recorded its answer`
}
