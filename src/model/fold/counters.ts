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
import type { ModelCost, Report } from '../report.ts'

/** Number of runs kept. Older runs write no more events, and a re-run is a new attempt. */
const RUNS_KEPT = 64

/** GitHub bills each job by whole minutes; other machines count their real time. */
export function countMinutes(run_id: string, minutes: number): number {
  return isActionsRun({ run_id }) ? Math.max(1, Math.ceil(minutes)) : minutes
}

export function countReportMinutes(report: Report): number {
  const { run_id, started_at, finished_at, prepared_seconds = 0 } = report
  const measuring = Math.max(0, Date.parse(finished_at) - Date.parse(started_at)) / 60_000
  return countMinutes(run_id, isActionsRun(report) ? measuring + prepared_seconds / 60 : measuring)
}

/** Counts the job that wrote this event, and the jobs that follow it in its run. */
export function countWritingJobs(campaign: Campaign, event: LedgerEvent): void {
  if (!isActionsRun(event.by)) return
  addTime(campaign, event.by, 'tick', 0)
  const follows =
    event.kind === 'proposal-requested' ? 'propose' : event.kind === 'judging-requested' ? 'judge' : null
  if (follows !== null) for (const job of [follows, 'settle']) addTime(campaign, event.by, job, 0)
}

/** A run that measures always contains a tick job and a settle job. */
export function countMeasuringRun(campaign: Campaign, run_id: string): void {
  if (isActionsRun({ run_id })) for (const job of ['tick', 'settle']) addJobTime(campaign, run_id, job, 0)
}

/** In single-job mode the measuring time is part of the job that writes. */
export function countMeasured(campaign: Campaign, by: EventAuthor, report: Report): void {
  const minutes = countReportMinutes(report)
  if (isActionsRun(by) && !isActionsRun(report)) addTime(campaign, by, 'tick', minutes)
  else campaign.spent.minutes += minutes
}

/** Minutes of proposers and judges belong to their own job when they have one, else to the job that writes. */
export function countSpentMinutes(campaign: Campaign, event: LedgerEvent<'spent'>): void {
  const { by, what, cause, minutes } = event
  const isOwnJob = what === 'judge' ? minutes > 0 : campaign.proposal_requests[cause] !== undefined
  if (isActionsRun(by)) addTime(campaign, by, isOwnJob ? what : 'tick', minutes)
  else campaign.spent.minutes += minutes
}

/** `purpose`: judge, propose or measure. */
export function countCost({ spent }: Campaign, purpose: string, { requests, tokens, usd }: ModelCost): void {
  spent.requests += requests
  spent.tokens += tokens
  spent.usd += usd
  spent.usd_for[purpose] = (spent.usd_for[purpose] ?? 0) + usd
}

function addTime(campaign: Campaign, { run_id, attempt }: EventAuthor, job: string, minutes: number): void {
  addJobTime(campaign, `${run_id}/${attempt}`, job, minutes)
}

/** Each job is rounded up on its own, so its earlier count is replaced. */
function addJobTime(campaign: Campaign, run: string, job: string, minutes: number): void {
  const jobs = (campaign.jobs[run] ??= {})
  const before = jobs[job]
  const after = (before ?? 0) + minutes
  jobs[job] = after
  const counted = before === undefined ? 0 : countMinutes(run, before)
  campaign.spent.minutes += countMinutes(run, after) - counted
  for (const old of Object.keys(campaign.jobs).slice(0, -RUNS_KEPT)) delete campaign.jobs[old]
}

/** A merge adds the step that its order measured: candidate against base, or against a stored score. */
export function addKeptStep(
  campaign: Campaign,
  { id, alpha_share, base_metrics, metrics }: Experiment,
  trees: { from: Oid; to: Oid },
): void {
  campaign.steps.push({
    experiment: id,
    by: alpha_share === null ? 'numbers' : 'pairs',
    harness: campaign.harness,
    from: { tree: trees.from, metrics: base_metrics },
    to: { tree: trees.to, metrics },
  })
}

/**
 * A direct revert is a step back to a tree with known numbers. A revert measured as an experiment gets its step from
 * its own merge.
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

/** True for a landing that is on the optimize branch and not on the default branch. */
export function isOwnGain({ reverted, upstream }: Landing): boolean {
  return reverted === null && !upstream
}
