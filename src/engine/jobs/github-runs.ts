import type { WorkflowRun, Workflows } from '../../github/port.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { formatActionsRunId } from '../../model/report-artifact.ts'
import type { CampaignContext } from '../campaign/context.ts'
import type { EndedRun, RunArtifacts } from './run-artifacts.ts'

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

/** How a run stands; null where it is not there any more. One request for each run, whoever asks. */
export type ReadRun = (run: number) => Promise<WorkflowRun | null>

export function createRunLookup(workflows: Workflows): ReadRun {
  const looked = new Map<number, Promise<WorkflowRun | null>>()
  return run => {
    const answer = looked.get(run) ?? workflows.run(run)
    looked.set(run, answer)
    return answer
  }
}

const OF_A_JOB = /^actions:(\d+)$/

export type FindLost = <T extends { run_id: string }>(
  open: readonly T[],
) => Promise<{ asking: T; reason: string }[]>

/** Finds askings of programs and models whose run has ended: no job answers them any more. */
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
  const number = OF_A_JOB.exec(run_id)?.[1]
  const conclusion = number === undefined ? null : ((await lookAt(Number(number)))?.conclusion ?? null)
  // Of a run that is not there nothing is known: its askings have a time of their own.
  if (conclusion === null) return null
  return `workflow run ${number} ended (${conclusion}) and its answers were not taken in`
}
