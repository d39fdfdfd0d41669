import type { WorkflowRun, Workflows } from '../../forge/port.ts'
import type { Place } from '../place.ts'

/** How a run stands; null where it is not there any more. One request for each run, whoever asks. */
export type LookAtRun = (run: number) => Promise<WorkflowRun | null>

export function runLookup(workflows: Workflows): LookAtRun {
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
export function lostAskings({ by }: Pick<Place, 'by'>, lookAt: LookAtRun): FindLost {
  return async open => {
    const all = open
      .filter(({ run_id }) => run_id !== by.run_id)
      .map(async asking => ({ asking, reason: await whyNotAnswered(asking, lookAt) }))
    return (await Promise.all(all)).flatMap(({ asking, reason }) =>
      reason === null ? [] : [{ asking, reason }],
    )
  }
}

async function whyNotAnswered({ run_id }: { run_id: string }, lookAt: LookAtRun): Promise<string | null> {
  const number = OF_A_JOB.exec(run_id)?.[1]
  const conclusion = number === undefined ? null : ((await lookAt(Number(number)))?.conclusion ?? null)
  // Of a run that is not there nothing is known: its askings have a time of their own.
  if (conclusion === null) return null
  return `workflow run ${number} ended (${conclusion}) and its answers were not taken in`
}
