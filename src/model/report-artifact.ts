import { formatActionsRun, type OrderId } from './ids.ts'
import type { PartialReport } from './pairs.ts'
import { markSideBroken, type Report } from './report.ts'

/**
 * How a report travels from the job that measured to the tick that takes it in: one artifact, one file in it, both
 * named by the order, and no larger than this. Sender and receiver keep to it.
 */
export const MAX_REPORT_BYTES = 4 * 1024 * 1024

/** Each order of a run has a slot of its own in the workflow file. */
export const MAX_ORDERS_PER_RUN = 20

export function getReportArtifactName(order: OrderId): string {
  return `report-${order}`
}

/** What an interrupted measurement had so far. */
export function getPartialArtifactName(order: OrderId): string {
  return `partial-${order}`
}

/** The one file of either artifact. */
export function getArtifactFileName(order: OrderId): string {
  return `${order}.json`
}

/** A run of GitHub Actions as reports and `order-dispatched` name it; a re-run is another attempt. */
export function formatActionsRunId(run: number | string, attempt: number | string): string {
  return `${formatActionsRun(run)}/${attempt}`
}

/**
 * A report small enough to be taken in: without what programs printed, then without what nothing is decided by, where
 * that suffices; else without everything that was measured, which then is the runner's failure and never a verdict.
 */
export function serializeReport(report: Report, most = MAX_REPORT_BYTES): string {
  return formatJsonLine(reduceReport(report, most))
}

function reduceReport(report: Report, most: number): Report {
  const spoken = removeOutputs(report)
  for (const smaller of [report, spoken, removeTasks(spoken)])
    if (countBytes(formatJsonLine(smaller)) <= most) return smaller
  const why = `the report has more than ${most} bytes, even without what was printed`
  const nothing = { setups: [], gates: [], executions: [], trees: {}, tampered: null }
  return { ...report, ...nothing, runner_error: report.runner_error?.slice(0, 1000) ?? why }
}

/** Null where it is too large even without what programs printed: cut further, it would hide pairs that had begun. */
export function serializePartialReport(partial: PartialReport, most = MAX_REPORT_BYTES): string | null {
  const { report, begun } = partial
  const texts = [report, removeOutputs(report)].map(each => formatJsonLine({ report: each, begun }))
  return texts.find(text => countBytes(text) <= most) ?? null
}

/** What one side has printed to be scored, in one parcel with the report. */
const MAX_SIDE_BYTES = 12 * 1024 * 1024
export const MAX_PRINTED_BYTES = MAX_REPORT_BYTES + 2 * MAX_SIDE_BYTES + 1024

/** With what is to be scored: the side that printed more than anybody could hand on is broken by that, and not the runner. */
export function serializePrintedItems(
  report: Report,
  items: Readonly<Record<string, unknown[]>>,
  most = MAX_SIDE_BYTES,
): string {
  const fitting: Record<string, unknown[]> = {}
  let told = report
  for (const [side, printed] of Object.entries(items)) {
    const bytes = countBytes(formatJsonLine(printed))
    fitting[side] = bytes <= most ? printed : []
    if (bytes > most)
      told = markSideBroken(told, side, `its items have ${bytes} bytes, and no more than ${most} are scored`)
  }
  return formatJsonLine({ report: reduceReport(told, MAX_REPORT_BYTES), items: fitting })
}

function formatJsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`
}

function removeOutputs(report: Report): Report {
  return {
    ...report,
    setups: report.setups.map(({ output: _output, ...rest }) => rest),
    gates: report.gates.map(({ output: _output, ...rest }) => rest),
    executions: report.executions.map(({ output: _output, error: _error, ...rest }) => rest),
  }
}

function removeTasks(report: Report): Report {
  const executions = report.executions.map(({ tasks: _tasks, artifacts: _artifacts, ...rest }) => rest)
  return { ...report, executions }
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length
}
