import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import type { EndedJob, EndedRun } from '../../src/engine/jobs/github-runs.ts'
import { fetchOrderedTrees, loadOrder } from '../../src/engine/jobs/job-clone.ts'
import { openRepository } from '../../src/git/repository.ts'
import type { MeasureInput } from '../../src/measure/session.ts'
import { loadCampaign } from '../../src/ledger/load.ts'
import { measureOrder } from '../../src/measure/measure.ts'
import { buildCampaignRefs, type OrderId } from '../../src/model/ids.ts'
import { isJudgedOrder } from '../../src/model/order.ts'
import type { PartialReport } from '../../src/model/pairs.ts'
import {
  formatActionsRunId,
  getArtifactFileName,
  getArtifactName,
  serializePartialReport,
  serializePrintedItems,
  serializeReport,
} from '../../src/model/job-file.ts'
import type { Report } from '../../src/model/report.ts'
import type { Clock } from '../../src/ports.ts'
import { ENV } from '../support/campaign-client.ts'
import type { EmulatedGithub } from './emulator/github.ts'
import type { RunRecord } from './emulator/world.ts'

/** Runs that wait for a machine, the oldest first. */
export function waitingRuns({ world }: EmulatedGithub): RunRecord[] {
  return world.runs.filter(({ status }) => status === 'queued')
}

/** The jobs of a run before and after those that measure, as a test starts them. */
export interface RunJobs {
  /** Orders that it puts out as the matrix. */
  tick: (run: RunRecord) => Promise<OrderId[]>
  settle: (run: RunRecord, ended: EndedRun) => Promise<void>
  /** What a measuring job runs on; this machine unless given. */
  machine?: () => JobMachine
}

export interface JobMachine extends Pick<Clock, 'now' | 'monotonic'> {
  /** Changes what the job reports. */
  fix?: (report: Report) => Report
}

const THIS_MACHINE: JobMachine = { now: () => Date.now(), monotonic: () => performance.now() }

/** A whole run: its tick, one job for each order of its matrix, and its settling job. */
export async function wholeRun(github: EmulatedGithub, run: RunRecord, jobs: RunJobs): Promise<void> {
  run.status = 'in_progress'
  const measured = new Map<OrderId, EndedJob>()
  for (const order of await jobs.tick(run))
    measured.set(order, await measuringJob(github, run, order, jobs.machine?.()))
  if (measured.size > 0) await jobs.settle(run, { measured, proposed: null, judged: null })
  github.finish(run, 'success')
}

/** A measuring job: a clone with the branches of the repository and no token, one order, one artifact. */
export async function measuringJob(
  github: EmulatedGithub,
  run: RunRecord,
  order: OrderId,
  machine: JobMachine = THIS_MACHINE,
): Promise<EndedJob> {
  const items: Record<string, unknown[]> = {}
  const onItems: Measuring['onItems'] = (side, printed) => void (items[side] = [...printed])
  const report = await measuredIn(github, run, order, { machine, onItems })
  const isJudged = Object.keys(items).length > 0
  const left = machine.fix?.(report) ?? report
  return leave(github, run, order, isJudged ? serializePrintedItems(left, items) : left)
}

/** Ends the job of an order with what claims to be its report. */
export function leave(
  github: EmulatedGithub,
  run: RunRecord,
  order: OrderId,
  report: Report | string,
): EndedJob {
  const text = typeof report === 'string' ? report : serializeReport(report)
  const digest = uploadFile(github, run, {
    name: getArtifactName('report', order),
    file: getArtifactFileName('report', order),
    text,
  })
  return { status: 'success', digest }
}

/** A job that was cut off, with what it had by then. */
export function leavePartial(
  github: EmulatedGithub,
  run: RunRecord,
  order: OrderId,
  partial: PartialReport,
): EndedJob {
  const text = serializePartialReport(partial) ?? ''
  const digest = uploadFile(github, run, {
    name: getArtifactName('partial', order),
    file: getArtifactFileName('partial', order),
    text,
  })
  return { status: 'cancelled', digest }
}

/** As actions/upload-artifact does; the digest is its output `artifact-digest`. */
export function uploadFile(
  github: EmulatedGithub,
  run: RunRecord,
  { name, file, text }: { name: string; file: string; text: string },
): string {
  const archive = zipSync({ [file]: new TextEncoder().encode(text) })
  github.upload(run, name, archive)
  return createHash('sha256').update(archive).digest('hex')
}

interface Measuring {
  onPartial?: (partial: PartialReport) => Promise<void>
  signal?: AbortSignal
  machine?: JobMachine
  /** Called with the items of a side that models are to score. */
  onItems?: NonNullable<MeasureInput['onItems']>
}

export async function measuredIn(
  github: EmulatedGithub,
  run: RunRecord,
  id: OrderId,
  { onPartial, signal = new AbortController().signal, machine = THIS_MACHINE, onItems }: Measuring = {},
): Promise<Report> {
  const root = mkdtempSync(join(tmpdir(), 'winnow-job-'))
  const clone = join(root, 'clone.git')
  // No refs of pull requests: a job gets every branch, and nothing else.
  execFileSync('git', ['init', '-q', '--bare', clone], { env: ENV })
  execFileSync('git', ['-C', clone, 'fetch', '-q', github.bare, '+refs/heads/*:refs/heads/*'], { env: ENV })
  const repository = await openRepository({
    dir: join(root, 'repository.git'),
    remote: clone,
    prefix: 'optimize',
    local: true,
    env: ENV,
  })
  try {
    const { refs } = await repository.remoteRefs(['refs/heads/*'])
    const { state: ref } = buildCampaignRefs('optimize', 'size')
    const tip = refs.get(ref) ?? ''
    await repository.fetch([{ ref, oid: tip }])
    const given = await loadOrder(repository, await loadCampaign(repository, tip), { id, now: machine.now() })
    if (!given.wanted) throw new Error(given.why)
    const { order, spec } = given
    await fetchOrderedTrees(repository, order, spec)
    return await measureOrder({
      order,
      spec,
      runId: formatActionsRunId(run.id, 1),
      repository,
      workDir: join(root, 'work'),
      sharedRoot: null,
      env: ENV,
      now: () => machine.now(),
      monotonic: () => machine.monotonic(),
      signal,
      onStart: async () => {},
      ...(onPartial === undefined ? {} : { onPartial }),
      ...(onItems !== undefined && isJudgedOrder(order, spec) ? { onItems } : {}),
    })
  } finally {
    await repository.close()
    rmSync(root, { recursive: true, force: true })
  }
}
