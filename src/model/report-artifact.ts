import { formatActionsRun, type OrderId } from './ids.ts'
import type { PartialReport } from './pairs.ts'
import { markSideBroken, type Report } from './report.ts'

/**
 * A report travels from the measuring job to the engine as one artifact with one file. The order's id names both.
 * Sender and receiver enforce this limit.
 */
export const MAX_REPORT_BYTES = 4 * 1024 * 1024

/** The workflow file has one slot for each order of a run. */
export const MAX_ORDERS_PER_RUN = 20

export function getReportArtifactName(order: OrderId): string {
  return `report-${order}`
}

export function getPartialArtifactName(order: OrderId): string {
  return `partial-${order}`
}

/** The single file in either artifact. */
export function getArtifactFileName(order: OrderId): string {
  return `${order}.json`
}

/** Formats a run as reports and `order-dispatched` name it. A re-run is a new attempt. */
export function formatActionsRunId(run: number | string, attempt: number | string): string {
  return `${formatActionsRun(run)}/${attempt}`
}

/**
 * Reduces a report until it fits the limit: first without printed output, then without data that no decision uses, at
 * last without all measurements. The last form is a failure of the runner, never a verdict.
 */
export function serializeReport(report: Report, most = MAX_REPORT_BYTES): string {
  return formatJsonLine(reduceReport(report, most))
}

function reduceReport(report: Report, most: number): Report {
  const withoutOutputs = removeOutputs(report)
  for (const smaller of [report, withoutOutputs, removeTasks(withoutOutputs)])
    if (countBytes(formatJsonLine(smaller)) <= most) return smaller
  const why = `the report has more than ${most} bytes, even without what was printed`
  const empty = { setups: [], gates: [], executions: [], trees: {}, tampered: null }
  return { ...report, ...empty, runner_error: report.runner_error?.slice(0, 1000) ?? why }
}

/**
 * Null when the report is too large even without printed output. A shorter version would hide pairs that had begun.
 */
export function serializePartialReport(partial: PartialReport, most = MAX_REPORT_BYTES): string | null {
  const { report, begun } = partial
  const texts = [report, removeOutputs(report)].map(each => formatJsonLine({ report: each, begun }))
  return texts.find(text => countBytes(text) <= most) ?? null
}

/** The items that one side printed for scoring. They travel in one artifact with the report. */
const MAX_SIDE_BYTES = 12 * 1024 * 1024
export const MAX_PRINTED_BYTES = MAX_REPORT_BYTES + 2 * MAX_SIDE_BYTES + 1024

/**
 * Serializes the report with the items. A side that printed too many bytes is marked broken: the runner is not at
 * fault.
 */
export function serializePrintedItems(
  report: Report,
  items: Readonly<Record<string, unknown[]>>,
  most = MAX_SIDE_BYTES,
): string {
  const accepted: Record<string, unknown[]> = {}
  let checked = report
  for (const [side, printed] of Object.entries(items)) {
    const bytes = countBytes(formatJsonLine(printed))
    accepted[side] = bytes <= most ? printed : []
    if (bytes > most)
      checked = markSideBroken(
        checked,
        side,
        `its items have ${bytes} bytes, and no more than ${most} are scored`,
      )
  }
  return formatJsonLine({ report: reduceReport(checked, MAX_REPORT_BYTES), items: accepted })
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
