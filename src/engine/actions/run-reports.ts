import type { z } from 'zod'
import type { UnzipResult } from '../../forge/port.ts'
import { type PrintedOrder, printedOrder } from '../../judge/judged-report.ts'
import type { OrderId } from '../../model/ids.ts'
import { type PartialReport, partialReportSchema } from '../../model/interruption.ts'
import {
  MAX_PRINTED_BYTES,
  MAX_REPORT_BYTES,
  getArtifactFileName,
  getPartialArtifactName,
  getReportArtifactName,
} from '../../model/parcel.ts'
import { type Report, reportSchema } from '../../model/report.ts'
import type { RunArtifacts } from './run-artifacts.ts'

export type ReadReport =
  | { is: 'report'; report: Report }
  /** With what is still to be scored. */
  | { is: 'printed'; printed: PrintedOrder }
  | UnusableReport
type ReadPartial = { is: 'partial'; partial: PartialReport } | UnusableReport
interface UnusableReport {
  is: 'unusable'
  reason: string
}

export interface WantedReport {
  order: OrderId
  /** As the report must say: `actions:<id>/1`. */
  runId: string
  /** Of the archive that the order's own job uploaded, as something other than the artifact says. */
  digest: string
}

/** Reads what the job of an order reported. Nothing in it is trusted. `judged`: its items come with the report. */
export async function readReport(
  artifacts: RunArtifacts,
  { order, runId, digest, judged }: WantedReport & { judged: boolean },
): Promise<ReadReport> {
  const most = judged ? MAX_PRINTED_BYTES : MAX_REPORT_BYTES
  const got = await artifacts.fetch(getReportArtifactName(order), {
    file: getArtifactFileName(order),
    most,
    digest,
  })
  if (judged) {
    const read = parseArtifact(got, printedOrder)
    if ('is' in read) return read
    return checkRunId(read.value.report, runId) ?? { is: 'printed', printed: read.value }
  }
  const read = parseArtifact(got, reportSchema)
  if ('is' in read) return read
  return checkRunId(read.value, runId) ?? { is: 'report', report: read.value }
}

/** Reads what the interrupted job of an order had measured. Nothing in it is trusted. */
export async function readPartial(
  artifacts: RunArtifacts,
  { order, runId, digest }: WantedReport,
): Promise<ReadPartial> {
  const parcel = { file: getArtifactFileName(order), most: MAX_REPORT_BYTES, digest }
  const read = parseArtifact(
    await artifacts.fetch(getPartialArtifactName(order), parcel),
    partialReportSchema,
  )
  if ('is' in read) return read
  return checkRunId(read.value.report, runId) ?? { is: 'partial', partial: read.value }
}

function toUnusable(reason: string): UnusableReport {
  return { is: 'unusable', reason }
}

function checkRunId({ run_id }: Report, runId: string): UnusableReport | null {
  return run_id === runId
    ? null
    : toUnusable(`it says that it is of run ${run_id.slice(0, 80)}, not ${runId}`)
}

function parseArtifact<T>(unpacked: UnzipResult, schema: z.ZodType<T>): { value: T } | UnusableReport {
  if (!unpacked.ok) return toUnusable(unpacked.why)
  const value = parseJson(unpacked.bytes)
  if (value === undefined) return toUnusable('its artifact holds no JSON')
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return toUnusable(`${issue?.path.join('.').slice(0, 200)}: ${issue?.message.slice(0, 300)}`)
  }
  const long = findLongText(parsed.data)
  if (long !== null) return toUnusable(`${long.slice(0, 200)} has more than ${MOST_TEXT} characters`)
  return { value: parsed.data }
}

/** Longer than anything that a measurement writes: the ledger keeps reports for good. */
const MOST_TEXT = 65_536

/** Where a report has a text, or a name, that is too long; null where it has none. */
function findLongText(value: unknown, place = 'it'): string | null {
  if (typeof value === 'string') return value.length > MOST_TEXT ? place : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = name.length > MOST_TEXT ? `a name in ${place}` : findLongText(inner, `${place}.${name}`)
    if (found !== null) return found
  }
  return null
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
