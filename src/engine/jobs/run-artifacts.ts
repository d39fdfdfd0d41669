import type { z } from 'zod'
import type { Artifact, ExpectedArtifact, UnzipResult, Workflows } from '../../github/port.ts'
import { ANSWERS_ARTIFACT, ANSWERS_FILE, MOST_ANSWERS_BYTES } from '../../ideas/answers-file.ts'
import {
  MOST_SCORES_BYTES,
  type PrintedOrder,
  printedOrder,
  SCORES_ARTIFACT,
  SCORES_FILE,
} from '../../judge/judged-report.ts'
import type { JobFile } from '../../measure/job-file.ts'
import type { OrderId } from '../../model/ids.ts'
import { type PartialReport, partialReportSchema } from '../../model/pairs.ts'
import {
  getArtifactFileName,
  getPartialArtifactName,
  getReportArtifactName,
  MAX_PRINTED_BYTES,
  MAX_REPORT_BYTES,
} from '../../model/report-artifact.ts'
import { type Report, reportSchema } from '../../model/report.ts'

export interface RunArtifacts {
  /** Fetches the single file of the artifact with this name, if it has the digest that its job reported. */
  fetch(name: string, artifact: ExpectedArtifact): Promise<UnzipResult>
}

/** Lists the artifacts of a run once and downloads each of them once. */
export function createRunArtifacts(
  workflows: Workflows,
  run: number,
  names: readonly string[],
): RunArtifacts {
  const fetched = new Map<string, Promise<UnzipResult>>()
  let listed: Promise<Artifact[]> | null = null

  async function fetchOne(name: string, artifact: ExpectedArtifact): Promise<UnzipResult> {
    const found = (await (listed ??= workflows.artifacts(run, names))).filter(each => each.name === name)
    const [only, ...others] = found
    if (only === undefined) return { ok: false, why: `its run has no artifact ${name}` }
    if (others.length > 0) return { ok: false, why: `its run has ${found.length} artifacts called ${name}` }
    const unpacked = await workflows.download(only, artifact)
    return unpacked.ok ? unpacked : { ok: false, why: `its artifact cannot be used: ${unpacked.why}` }
  }

  return {
    fetch(name, artifact) {
      const known = fetched.get(name) ?? fetchOne(name, artifact)
      fetched.set(name, known)
      return known
    },
  }
}

/** The result of a job, from `needs` of the settling job. */
export interface EndedJob {
  /** The conclusion on GitHub: success, failure, cancelled; empty for a job that never started. */
  status: string
  /** Hex digest of the artifact that it uploaded; null without one. */
  digest: string | null
}

export interface EndedRun {
  measured: ReadonlyMap<OrderId, EndedJob>
  /** Null when the job had no work. */
  proposed: EndedJob | null
  judged: EndedJob | null
}

export function listArtifactNames({ measured }: EndedRun): string[] {
  const orderNames = [...measured.keys()].flatMap(order => [
    getReportArtifactName(order),
    getPartialArtifactName(order),
  ])
  return [...orderNames, ANSWERS_ARTIFACT, SCORES_ARTIFACT]
}

/** Returns null when the job had no work. */
export async function fetchAnswers({ proposed }: EndedRun, artifacts: RunArtifacts): Promise<JobFile | null> {
  if (proposed === null) return null
  if (proposed.digest === null) return { ok: false, why: describeNothingLeft(proposed, 'answers') }
  const artifact = { file: ANSWERS_FILE, most: MOST_ANSWERS_BYTES, digest: proposed.digest }
  return artifacts.fetch(ANSWERS_ARTIFACT, artifact)
}

/** Returns null when the job had no work. */
export async function fetchScores({ judged }: EndedRun, artifacts: RunArtifacts): Promise<JobFile | null> {
  if (judged === null) return null
  if (judged.digest === null) return { ok: false, why: describeNothingLeft(judged, 'scores') }
  const artifact = { file: SCORES_FILE, most: MOST_SCORES_BYTES, digest: judged.digest }
  return artifacts.fetch(SCORES_ARTIFACT, artifact)
}

function describeNothingLeft({ status }: EndedJob, what: string): string {
  return `its job ended (${status || 'not started'}) and left no ${what}`
}

type ReadReport = { is: 'report'; report: Report } | { is: 'printed'; printed: PrintedOrder } | UnusableReport
type ReadPartial = { is: 'partial'; partial: PartialReport } | UnusableReport
interface UnusableReport {
  is: 'unusable'
  reason: string
}

interface WantedReport {
  order: OrderId
  /** The run id that the report must contain: `actions:<id>/1`. */
  runId: string
  /** Digest of the archive, reported by the job itself and not by the artifact. */
  digest: string
}

/** Reads the report of an order's job as untrusted input. `judged`: its items come with it. */
export async function readReport(
  artifacts: RunArtifacts,
  { order, runId, digest, judged }: WantedReport & { judged: boolean },
): Promise<ReadReport> {
  const most = judged ? MAX_PRINTED_BYTES : MAX_REPORT_BYTES
  const unpacked = await artifacts.fetch(getReportArtifactName(order), {
    file: getArtifactFileName(order),
    most,
    digest,
  })
  if (judged) {
    const read = parseArtifact(unpacked, printedOrder)
    if ('is' in read) return read
    return checkRunId(read.value.report, runId) ?? { is: 'printed', printed: read.value }
  }
  const read = parseArtifact(unpacked, reportSchema)
  if ('is' in read) return read
  return checkRunId(read.value, runId) ?? { is: 'report', report: read.value }
}

/** Reads the partial report of an interrupted job as untrusted input. */
export async function readPartial(
  artifacts: RunArtifacts,
  { order, runId, digest }: WantedReport,
): Promise<ReadPartial> {
  const artifact = { file: getArtifactFileName(order), most: MAX_REPORT_BYTES, digest }
  const read = parseArtifact(
    await artifacts.fetch(getPartialArtifactName(order), artifact),
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

/** No measurement writes a longer text. The ledger keeps reports forever. */
const MOST_TEXT = 65_536

/** Returns the path of a text or a name that is too long; null without one. */
function findLongText(value: unknown, path = 'it'): string | null {
  if (typeof value === 'string') return value.length > MOST_TEXT ? path : null
  if (typeof value !== 'object' || value === null) return null
  for (const [name, inner] of Object.entries(value)) {
    const found = name.length > MOST_TEXT ? `a name in ${path}` : findLongText(inner, `${path}.${name}`)
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
