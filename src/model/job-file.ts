import { z } from 'zod'
import { formatActionsRun, type OrderId } from './ids.ts'
import type { PartialReport } from './pairs.ts'
import { markSideBroken, type Report } from './report.ts'

/**
 * The content of a file that jobs of one run hand to each other. `printed`: a report with the items that models have
 * yet to score. `items`: the input of the judge job. `answers`: of proposers.
 */
export type JobFileContent = 'report' | 'printed' | 'partial' | 'answers' | 'items' | 'scores'

const MIB = 1024 * 1024
/** The items that one side printed for scoring. They travel in one file with the report. */
const MAX_SIDE_BYTES = 12 * MIB
export const MAX_REPORT_BYTES = 4 * MIB

/** Sender and receiver enforce these limits. */
export const MAX_FILE_BYTES: Readonly<Record<JobFileContent, number>> = {
  report: MAX_REPORT_BYTES,
  /** Both sides, and the labels of people. */
  printed: MAX_REPORT_BYTES + 3 * MAX_SIDE_BYTES + 1024,
  partial: MAX_REPORT_BYTES,
  answers: 4 * MIB,
  items: 256 * MIB,
  scores: 32 * MIB,
}
const MAX_ENTRIES = 256
/** No measurement writes a longer text. The ledger keeps reports forever. */
const MAX_TEXT = 65_536
const MAX_PATCH_TEXT = MIB

/** The workflow file has one slot for each order of a run. */
export const MAX_ORDERS_PER_RUN = 20

/** An artifact has one file. Only the files of a measuring job name their order: a run has many of them. */
export function getArtifactName(content: JobFileContent, order?: OrderId): string {
  if (order === undefined) return `winnow-${content}`
  return `${content === 'partial' ? 'partial' : 'report'}-${order}`
}

export function getArtifactFileName(content: JobFileContent, order?: OrderId): string {
  return `${order ?? content}.json`
}

/** Formats a run as reports and `order-dispatched` name it. A re-run is a new attempt. */
export function formatActionsRunId(run: number | string, attempt: number | string): string {
  return `${formatActionsRun(run)}/${attempt}`
}

// The format

/** Each entry answers the request with its key: the id of an order, or the key of a proposal or judging request. */
export interface JobFile<T extends { key: string }> {
  run: string
  entries: readonly T[]
}

/** A file from another job, or why it is missing. */
export type JobFileBytes = { ok: true; bytes: Uint8Array } | { ok: false; why: string }

export function serializeJobFile<T extends { key: string }>(
  content: JobFileContent,
  { run, entries }: JobFile<T>,
): string {
  return `${JSON.stringify({ winnow: 1, content, run, entries })}\n`
}

/** Selects what fits into one file, in turn. An entry that does not fit is replaced, or left out. */
export function fitEntries<T extends { key: string }>(
  entries: readonly T[],
  most: number,
  replace: (entry: T) => T | null,
): T[] {
  const accepted: T[] = []
  let bytes = 1024
  for (const entry of entries) {
    if (accepted.length === MAX_ENTRIES) break
    const fitting = [entry, replace(entry)].find(
      each => each !== null && bytes + countBytes(JSON.stringify(each)) < most,
    )
    if (fitting == null) continue
    bytes += countBytes(JSON.stringify(fitting)) + 1
    accepted.push(fitting)
  }
  return accepted
}

/** Parses another job's file, which is untrusted. `unusable` gives the reason in one line. */
export function parseJobFile<T extends { key: string }>(
  given: JobFileBytes,
  { content, run, entry }: { content: JobFileContent; run: string; entry: z.ZodType<T> },
): T[] | { unusable: string } {
  if (!given.ok) return { unusable: given.why }
  const value = parseJson(given.bytes)
  if (value === undefined) return { unusable: `the file of ${content} holds no JSON` }
  const entries = z
    .array(entry)
    .max(MAX_ENTRIES)
    .refine(all => new Set(all.map(({ key }) => key)).size === all.length, 'two entries have one key')
  const schema = z.strictObject({
    winnow: z.literal(1),
    content: z.literal(content),
    run: z.string(),
    entries,
  })
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    const where = issue?.path.join('.').slice(0, 200) || `the file of ${content}`
    return { unusable: `${where}: ${issue?.message.slice(0, 300)}` }
  }
  const { data } = parsed
  if (data.run !== run)
    return { unusable: `the file of ${content} is from run ${data.run.slice(0, 80)}, not ${run}` }
  const limit = content === 'answers' ? MAX_PATCH_TEXT : MAX_TEXT
  const long = findLongText(data.entries, limit, 'entries')
  return long === null
    ? data.entries
    : { unusable: `${long.slice(0, 200)} has more than ${limit} characters` }
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}

/** Returns the path of a text or a name that is too long; null without one. */
function findLongText(value: unknown, limit: number, path: string): string | null {
  if (typeof value === 'string') return value.length > limit ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = name.length > limit ? `a name in ${path}` : findLongText(inner, limit, `${path}.${name}`)
    if (found !== null) return found
  }
  return null
}

// Reports

type ReportFile = {
  report: Report
  items?: Readonly<Record<string, unknown[]>>
  begun?: PartialReport['begun']
}

function formatReportFile(content: JobFileContent, fields: ReportFile): string {
  const { order: key, run_id: run } = fields.report
  return serializeJobFile(content, { run, entries: [{ key, ...fields }] })
}

/**
 * Reduces a report until it fits the limit: first without printed output, then without data that no decision uses, at
 * last without all measurements. The last form is a failure of the runner, never a verdict.
 */
export function serializeReport(report: Report, most = MAX_REPORT_BYTES): string {
  return formatReportFile('report', { report: reduceReport(report, most) })
}

function reduceReport(report: Report, most: number): Report {
  const withoutOutputs = removeOutputs(report)
  for (const smaller of [report, withoutOutputs, removeArtifacts(withoutOutputs)])
    if (countBytes(formatReportFile('report', { report: smaller })) <= most) return smaller
  const why = `the report has more than ${most} bytes, even without what was printed`
  const empty = { setups: [], gates: [], executions: [], trees: {}, tampered: null }
  return { ...report, ...empty, runner_error: report.runner_error?.slice(0, 1000) ?? why }
}

/** Null when it is too large without printed output: a shorter version would hide pairs that had begun. */
export function serializePartialReport(
  { report, begun }: PartialReport,
  most = MAX_REPORT_BYTES,
): string | null {
  const texts = [report, removeOutputs(report)].map(each =>
    formatReportFile('partial', { report: each, begun }),
  )
  return texts.find(text => countBytes(text) <= most) ?? null
}

/** Marks a side broken that printed too many bytes: the runner is not at fault. */
export function serializePrintedItems(
  report: Report,
  items: Readonly<Record<string, unknown[]>>,
  most = MAX_SIDE_BYTES,
): string {
  const accepted: Record<string, unknown[]> = {}
  let checked = report
  for (const [side, printed] of Object.entries(items)) {
    const bytes = countBytes(JSON.stringify(printed))
    accepted[side] = bytes <= most ? printed : []
    const why = `its items have ${bytes} bytes, and no more than ${most} are scored`
    if (bytes > most) checked = markSideBroken(checked, side, why)
  }
  return formatReportFile('printed', { report: reduceReport(checked, MAX_REPORT_BYTES), items: accepted })
}

function removeOutputs(report: Report): Report {
  return {
    ...report,
    setups: report.setups.map(({ output: _output, ...rest }) => rest),
    gates: report.gates.map(({ output: _output, ...rest }) => rest),
    executions: report.executions.map(({ output: _output, error, ...rest }) =>
      // A run of a task that failed has an error, and measured numbers (model/tasks.ts).
      error !== undefined && rest.task !== undefined ? { ...rest, error: error.slice(0, 200) } : rest,
    ),
  }
}

function removeArtifacts(report: Report): Report {
  const executions = report.executions.map(({ artifacts: _artifacts, ...rest }) => rest)
  return { ...report, executions }
}

function countBytes(text: string): number {
  return new TextEncoder().encode(text).length
}
