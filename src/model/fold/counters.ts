import {
  type Campaign,
  findTreeMetrics,
  getIncumbentMetrics,
  type Landing,
  type MeasuredMerge,
} from '../campaign.ts'
import type { EventAuthor, LedgerEvent } from '../event.ts'
import type { Experiment } from '../experiment.ts'
import { isActionsRun, type Oid } from '../ids.ts'
import type { Report } from '../report.ts'

/** Runs that wrote most recently. An older one writes nothing more, and a re-run is another attempt. */
const RUNS_KEPT = 64

/** A hosted runner is billed by the minute begun; a machine of one's own is counted by its real time. */
export function countMinutes(run_id: string, minutes: number): number {
  return isActionsRun({ run_id }) ? Math.max(1, Math.ceil(minutes)) : minutes
}

/** The minutes of the job that made this report, with the set-up that came before it as far as that is known. */
export function countReportMinutes(report: Report): number {
  const { run_id, started_at, finished_at, prepared_seconds = 0 } = report
  const measuring = Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 60_000
  return countMinutes(run_id, isActionsRun(report) ? measuring + prepared_seconds / 60 : measuring)
}

/** Counts the job that wrote this event, and those that follow it in its run. */
export function countWritingJobs(campaign: Campaign, event: LedgerEvent): void {
  if (!isActionsRun(event.by)) return
  addTime(campaign, event.by, 'tick', 0)
  const follows = event.kind === 'idea-asked' ? 'propose' : event.kind === 'judging-asked' ? 'judge' : null
  if (follows !== null) for (const job of [follows, 'settle']) addTime(campaign, event.by, job, 0)
}

/** A run that measures has a tick and a settle, whichever of them writes. */
export function countMeasuringRun(campaign: Campaign, run_id: string): void {
  if (isActionsRun({ run_id })) for (const job of ['tick', 'settle']) addJobTime(campaign, run_id, job, 0)
}

/** In single-job mode the measuring time is part of the one job that writes. */
export function countMeasured(campaign: Campaign, by: EventAuthor, report: Report): void {
  const minutes = countReportMinutes(report)
  if (isActionsRun(by) && !isActionsRun(report)) addTime(campaign, by, 'tick', minutes)
  else campaign.spent.minutes += minutes
}

/** Programs and models that were asked in a job of their own have its minutes, else those of the job that writes. */
export function countSpentMinutes(campaign: Campaign, event: LedgerEvent<'spent'>): void {
  const { by, what, cause, minutes } = event
  const isOwnJob = what === 'judge' ? minutes > 0 : campaign.asked[cause] !== undefined
  if (isActionsRun(by)) addTime(campaign, by, isOwnJob ? what : 'tick', minutes)
  else campaign.spent.minutes += minutes
}

function addTime(campaign: Campaign, { run_id, attempt }: EventAuthor, job: string, minutes: number): void {
  addJobTime(campaign, `${run_id}/${attempt}`, job, minutes)
}

/** Each job is rounded up by itself, so what was counted of it before is replaced. */
function addJobTime(campaign: Campaign, run: string, job: string, minutes: number): void {
  const jobs = (campaign.jobs[run] ??= {})
  const before = jobs[job]
  const after = (before ?? 0) + minutes
  jobs[job] = after
  const counted = before === undefined ? 0 : countMinutes(run, before)
  campaign.spent.minutes += countMinutes(run, after) - counted
  for (const old of Object.keys(campaign.jobs).slice(0, -RUNS_KEPT)) delete campaign.jobs[old]
}

/** A merge gains what its own order measured: base and candidate, side by side or against a stored score. */
export function addKeptStep(
  campaign: Campaign,
  { id, share, base_metrics, metrics }: Experiment,
  trees: { from: Oid; to: Oid },
): void {
  campaign.steps.push({
    experiment: id,
    by: share === null ? 'numbers' : 'pairs',
    harness: campaign.harness,
    from: { tree: trees.from, metrics: base_metrics },
    to: { tree: trees.to, metrics },
  })
}

/**
 * A landing that is taken back at once is a step to a tree that was measured before. A revert that was measured as an
 * experiment has its step by its own merge.
 */
export function addRevertStep(campaign: Campaign, event: LedgerEvent<'reverted'>): void {
  const { experiment, by_experiment, from, to } = event
  const kept = campaign.steps.findLast(step => step.experiment === experiment)
  if (by_experiment !== null || kept === undefined) return
  const before = getIncumbentMetrics(campaign)
  const after = findTreeMetrics(campaign, to.tree)
  const known = Object.keys(before).length > 0 && after !== null
  campaign.steps.push({
    experiment,
    by: kept.by,
    harness: known ? campaign.harness : kept.harness,
    from: { tree: from.tree, metrics: known ? before : kept.to.metrics },
    to: { tree: to.tree, metrics: known ? after : kept.from.metrics },
  } satisfies MeasuredMerge)
}

/** Still on the optimize branch, and not on the default branch. */
export function isOwnGain({ reverted, upstream }: Landing): boolean {
  return reverted === null && !upstream
}
