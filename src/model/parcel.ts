import { actionsRun } from './host.ts'
import type { OrderId } from './ids.ts'
import type { PartialReport } from './interruption.ts'
import { brokenSide, type Report } from './report.ts'

/**
 * How a report travels from the job that measured to the tick that takes it in: one artifact, one file in it, both
 * named by the order, and no larger than this. Sender and receiver keep to it.
 */
export const MOST_REPORT_BYTES = 4 * 1024 * 1024

/** Each order of a run has a slot of its own in the workflow file. */
export const MOST_ORDERS_A_RUN = 20

export function reportArtifact(order: OrderId): string {
  return `report-${order}`
}

/** What an interrupted measurement had so far. */
export function partialArtifact(order: OrderId): string {
  return `partial-${order}`
}

/** The one file of either artifact. */
export function parcelFile(order: OrderId): string {
  return `${order}.json`
}

/** A run of GitHub Actions as reports and `order-dispatched` name it; a re-run is another attempt. */
export function actionsRunId(run: number | string, attempt: number | string): string {
  return `${actionsRun(run)}/${attempt}`
}

/**
 * A report small enough to be taken in: without what programs printed, then without what nothing is decided by, where
 * that suffices; else without everything that was measured, which then is the runner's failure and never a verdict.
 */
export function parcelled(report: Report, most = MOST_REPORT_BYTES): string {
  return textOf(smallEnough(report, most))
}

function smallEnough(report: Report, most: number): Report {
  const spoken = withoutTails(report)
  for (const smaller of [report, spoken, withoutTasks(spoken)])
    if (bytesOf(textOf(smaller)) <= most) return smaller
  const why = `the report has more than ${most} bytes, even without what was printed`
  const nothing = { setups: [], gates: [], executions: [], trees: {}, tampered: null }
  return { ...report, ...nothing, runner_error: report.runner_error?.slice(0, 1000) ?? why }
}

/** Null where it is too large even without what programs printed: cut further, it would hide pairs that had begun. */
export function parcelledPartial(partial: PartialReport, most = MOST_REPORT_BYTES): string | null {
  const { report, begun } = partial
  const texts = [report, withoutTails(report)].map(each => textOf({ report: each, begun }))
  return texts.find(text => bytesOf(text) <= most) ?? null
}

/** What one side has printed to be scored, in one parcel with the report. */
const MOST_SIDE_BYTES = 12 * 1024 * 1024
export const MOST_PRINTED_BYTES = MOST_REPORT_BYTES + 2 * MOST_SIDE_BYTES + 1024

/** With what is to be scored: the side that printed more than anybody could hand on is broken by that, and not the runner. */
export function parcelledItems(
  report: Report,
  items: Readonly<Record<string, unknown[]>>,
  most = MOST_SIDE_BYTES,
): string {
  const fitting: Record<string, unknown[]> = {}
  let told = report
  for (const [side, printed] of Object.entries(items)) {
    const bytes = bytesOf(textOf(printed))
    fitting[side] = bytes <= most ? printed : []
    if (bytes > most)
      told = brokenSide(told, side, `its items have ${bytes} bytes, and no more than ${most} are scored`)
  }
  return textOf({ report: smallEnough(told, MOST_REPORT_BYTES), items: fitting })
}

function textOf(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function withoutTails(report: Report): Report {
  return {
    ...report,
    setups: report.setups.map(({ output: _output, ...rest }) => rest),
    gates: report.gates.map(({ output: _output, ...rest }) => rest),
    executions: report.executions.map(({ output: _output, error: _error, ...rest }) => rest),
  }
}

function withoutTasks(report: Report): Report {
  const executions = report.executions.map(({ tasks: _tasks, artifacts: _artifacts, ...rest }) => rest)
  return { ...report, executions }
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length
}
