import type { Execution } from '../model/report.ts'
import type { MeasureInput } from './input.ts'
import type { OrderSide } from './session.ts'

/** The rest is for what every execution has. What programs print for people is left out where there is no room for it. */
const FOR_METRICS = 0.8
/** Where all print alike it is the base that has no room first, and no candidate is to blame. */
const OF_THE_BASE = 0.8

/**
 * A report that is too large to travel would be the runner's failure, and everything that was measured be measured again:
 * each side has a share of it, which no other can fill.
 */
export function computeSideRoom(
  { mostReportBytes }: Pick<MeasureInput, 'mostReportBytes'>,
  { label, of }: { label: OrderSide['label']; of: number },
): number {
  if (mostReportBytes === undefined) return Number.POSITIVE_INFINITY
  const share = (mostReportBytes * FOR_METRICS) / of
  return Math.floor(label === 'base' ? share * OF_THE_BASE : share)
}

/** The execution as the report has room for it: what goes beyond its side's share is no result. */
export function limitToRoom(side: Pick<OrderSide, 'room'>, execution: Execution): Execution {
  const bytes = Buffer.byteLength(JSON.stringify(execution.metrics))
  if (bytes <= side.room) {
    side.room -= bytes
    return execution
  }
  const { tasks: _tasks, artifacts: _artifacts, ...rest } = execution
  const error = `its metrics have ${bytes} bytes, and its side ${side.room} left in this report: print fewer, or shorter names`
  return { ...rest, status: 'bad-output', metrics: {}, error }
}
