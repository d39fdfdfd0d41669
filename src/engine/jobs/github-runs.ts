import { z } from 'zod'
import type { Artifact, ExpectedArtifact, UnzipResult, WorkflowRun, Workflows } from '../../github/port.ts'
import { printedOrder } from '../../judge/judging-task.ts'
import type { Campaign, LiveOrder } from '../../model/campaign.ts'
import { digestSchema, type OrderId } from '../../model/ids.ts'
import {
  getArtifactFileName,
  getArtifactName,
  type JobFileContent,
  MAX_FILE_BYTES,
  parseJobFile,
} from '../../model/job-file.ts'
import { partialReportSchema } from '../../model/pairs.ts'
import { type Report, reportSchema } from '../../model/report.ts'

/** Another attempt of a run would be another draw of the same measurement. */
export const FIRST_ATTEMPT = 1
const JOB_RUN_ID = /^actions:(\d+)\/1$/

export type RunRole =
  /** Runs on the default branch, and later attempts, only start other runs. */
  { does: 'start' } | { does: 'measure' } | { does: 'settle'; ended: EndedRun; artifacts: RunArtifacts }

export function getJobRunId({ by }: { by: { run_id: string } }): string {
  return `${by.run_id}/${FIRST_ATTEMPT}`
}

export function parseRunNumber(runId: string): number {
  return Number(JOB_RUN_ID.exec(runId)?.[1])
}

export function listWaitingOrders({ orders }: Campaign): LiveOrder[] {
  return Object.values(orders).filter(
    ({ report, run_id }) => report === null && (run_id === null || JOB_RUN_ID.test(run_id)),
  )
}

/** Reads a run with one request; null when it no longer exists. */
export type ReadRun = (run: number) => Promise<WorkflowRun | null>

export function createRunLookup(workflows: Workflows): ReadRun {
  const looked = new Map<number, Promise<WorkflowRun | null>>()
  return run => {
    const answer = looked.get(run) ?? workflows.run(run)
    looked.set(run, answer)
    return answer
  }
}

const ACTIONS_RUN = /^actions:(\d+)(?:\/1)?$/

/** The loss rule of all jobs on GitHub. A deleted run shows no result; its requests end by their deadline. */
export async function explainEndedRun(runId: string, lookAt: ReadRun): Promise<string | null> {
  const number = ACTIONS_RUN.exec(runId)?.[1]
  if (number === undefined) return null
  const conclusion = (await lookAt(Number(number)))?.conclusion ?? null
  return conclusion === null
    ? null
    : `workflow run ${number} ended (${conclusion}) before winnow recorded its answer`
}

export interface RunArtifacts {
  fetch(name: string, artifact: ExpectedArtifact): Promise<UnzipResult>
}

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

export interface EndedJob {
  /** The conclusion on GitHub: success, failure, cancelled; empty for a job that never started. */
  status: string
  /** Hex digest of the artifact that it uploaded; null without one. */
  digest: string | null
}

export interface EndedRun {
  measured: ReadonlyMap<OrderId, EndedJob>
  proposed: EndedJob | null
  judged: EndedJob | null
}

export function listArtifactNames({ measured }: EndedRun): string[] {
  const orders = [...measured.keys()]
  const contents = ['report', 'partial'] as const
  return [
    ...orders.flatMap(order => contents.map(content => getArtifactName(content, order))),
    getArtifactName('answers'),
    getArtifactName('scores'),
  ]
}

interface WantedFile<T extends { key: string }> {
  content: JobFileContent
  /** The order of a measuring job. Other jobs have one file for all their requests. */
  order?: OrderId
  /** The run that the file must name: `actions:<id>/1`. */
  run: string
  entry: z.ZodType<T>
}

/** Reads the file that a job left, as untrusted input. Returns null when the job had no work. */
export async function readJobEntries<T extends { key: string }>(
  artifacts: RunArtifacts,
  job: EndedJob | null,
  { content, order, ...format }: WantedFile<T>,
): Promise<T[] | { unusable: string } | null> {
  if (job === null) return null
  const { status, digest } = job
  if (digest === null)
    return { unusable: `its job ended (${status || 'not started'}) and left no ${content}` }
  const artifact = { file: getArtifactFileName(content, order), most: MAX_FILE_BYTES[content], digest }
  return parseJobFile(await artifacts.fetch(getArtifactName(content, order), artifact), {
    content,
    ...format,
  })
}

const key = { key: digestSchema }
/** The entries of a measuring job's file, by its content. */
export const reportEntrySchema = z.strictObject({ ...key, report: reportSchema })
export const printedEntrySchema = z.strictObject({ ...key, ...printedOrder.shape })
export const partialEntrySchema = z.strictObject({ ...key, ...partialReportSchema.shape })

/** Reads the report of one order, whose own run id has to be that of the file. */
export async function readReportEntry<T extends { key: string; report: Report }>(
  artifacts: RunArtifacts,
  job: EndedJob,
  wanted: WantedFile<T> & { order: OrderId },
): Promise<T | { unusable: string }> {
  const read = await readJobEntries(artifacts, job, wanted)
  if (read === null || 'unusable' in read) return read ?? { unusable: 'its job had no work' }
  const [only, ...others] = read
  if (only?.key !== wanted.order || others.length > 0)
    return { unusable: 'its file is not about this order alone' }
  const { run_id } = only.report
  if (run_id === wanted.run) return only
  return { unusable: `its report is from run ${run_id.slice(0, 80)}, not ${wanted.run}` }
}
