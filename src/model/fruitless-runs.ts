import type { Campaign } from './campaign.ts'
import { isActionsRun } from './host.ts'

/** Runs of GitHub Actions in a row that did one thing in vain. */
export interface FruitlessRuns {
  times: number
  /** The latest of them. */
  run_id: string
  at: string
}

export const MEASURING_FAILED = 'measuring-failed'
export const ASKING_FAILED = 'asking-failed'

const ACTIONS_RUN = /^actions:\d+/

/** Several orders or askings of one run are one failure. */
function countRun(
  before: FruitlessRuns | null,
  { run_id, at }: Pick<FruitlessRuns, 'run_id' | 'at'>,
): FruitlessRuns | null {
  if (!isActionsRun({ run_id })) return before
  const [run = run_id] = ACTIONS_RUN.exec(run_id) ?? []
  if (before?.run_id === run) return before
  return { times: (before?.times ?? 0) + 1, run_id: run, at }
}

type FruitlessCounts = Pick<Campaign, 'fruitless_measuring' | 'fruitless_asking' | 'alerts'>

export function countLostMeasuring(
  campaign: FruitlessCounts,
  run: { run_id: string | null; at: string },
): void {
  const { run_id, at } = run
  if (run_id !== null) campaign.fruitless_measuring = countRun(campaign.fruitless_measuring, { run_id, at })
}

export function countLostAsking(campaign: FruitlessCounts, run: { run_id: string; at: string }): void {
  campaign.fruitless_asking = countRun(campaign.fruitless_asking, run)
}

export function endLostMeasuring(campaign: FruitlessCounts): void {
  campaign.fruitless_measuring = null
  dropAlerts(campaign, MEASURING_FAILED)
}

export function endLostAsking(campaign: FruitlessCounts): void {
  campaign.fruitless_asking = null
  dropAlerts(campaign, ASKING_FAILED)
}

/** Whether the next run may be put off for them. */
export function hasFruitlessRuns(
  campaign: Pick<Campaign, 'fruitless_measuring' | 'fruitless_asking'>,
): boolean {
  return campaign.fruitless_measuring !== null || campaign.fruitless_asking !== null
}

function dropAlerts(campaign: FruitlessCounts, dropped: string): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => code !== dropped)
}
