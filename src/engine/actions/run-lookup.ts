import type { WorkflowRun, Workflows } from '../../forge/port.ts'
import type { CampaignContext } from '../place.ts'

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
