import type { Campaign } from '../model/campaign.ts'
import { EXIT_CODES, type VerdictWord, WAITING_EXIT_CODE } from '../model/outcome.ts'
import type { PlanWaiting } from '../plan/action.ts'
import { listKeptExperiments } from '../report/taken-back.ts'

/** What `winnow run` answers to a script (design section 9), as its help says it. */
export const RUN_EXITS: Readonly<Record<number, string>> = {
  [EXIT_CODES.kept]: 'the campaign stopped, and something is kept',
  [EXIT_CODES['no gain']]: 'it stopped with nothing kept',
  [EXIT_CODES['not proven']]: 'it stopped with nothing kept, and what was measured is not proven',
  [EXIT_CODES.refused]: 'it stopped, and every idea was refused',
  [EXIT_CODES.broken]:
    'the base or the harness fails, its calibration included, or it stopped and every idea was broken',
  [WAITING_EXIT_CODE]: 'waiting for ideas, a measurement elsewhere, or a person',
  [EXIT_CODES.worse]: 'it stopped with nothing kept, and what was measured is worse',
}

/** The first of these that any experiment came to is what a campaign with nothing kept came to. */
const BEST_FIRST: readonly VerdictWord[] = ['no gain', 'not proven', 'worse', 'broken', 'refused']

/** How a campaign stands when `run` returns. */
export interface RunResult {
  campaign: Campaign
  waiting: PlanWaiting
}

export function toRunExitCode({ campaign, waiting }: RunResult): number {
  if (waiting.for !== 'nothing') return hasFailingBase(campaign) ? EXIT_CODES.broken : WAITING_EXIT_CODE
  if (listKeptExperiments(campaign).length > 0) return EXIT_CODES.kept
  const words = new Set(Object.values(campaign.experiments).flatMap(({ verdict }) => verdict ?? []))
  const best = BEST_FIRST.find(word => words.has(word))
  return EXIT_CODES[best ?? 'no gain']
}

/** The incumbent's own order has its report and led nowhere: that is what the engine paused for. */
export function hasFailingBase({ status, status_source, orders }: Campaign): boolean {
  if (status !== 'paused' || status_source !== 'engine') return false
  return Object.values(orders).some(
    ({ order, report }) =>
      report !== null && (order.purpose === 'calibration' || order.purpose === 'baseline'),
  )
}
