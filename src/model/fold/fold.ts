import { Immer } from 'immer'
import type { Campaign, EventHandler } from '../campaign.ts'
import type { EventKind, LedgerEvent } from '../event.ts'
import { findSubject } from '../experiment.ts'
import { type ExperimentId, isActionsRun } from '../ids.ts'
import { approvalHandlers, steeringHandlers } from './approvals.ts'
import { campaignHandlers } from './campaign.ts'
import { countWritingJobs } from './counters.ts'
import { experimentHandlers } from './experiments.ts'
import { orderHandlers } from './orders.ts'
import { backlogHandlers, judgingHandlers, proposalHandlers } from './proposers.ts'

/** The type requires a handler for every kind. State consists of nothing but folded events (invariant 11). */
const handlers: { [K in EventKind]: EventHandler<K> } = {
  ...approvalHandlers,
  ...proposalHandlers,
  ...backlogHandlers,
  ...campaignHandlers,
  ...experimentHandlers,
  ...judgingHandlers,
  ...orderHandlers,
  ...steeringHandlers,
}

/** Cause prefix of an event that answers a comment. The comment's id follows. */
export const COMMENT_CAUSE = 'comment:'
/** Cause prefix of an event that answers an approving review. */
export const REVIEW_CAUSE = 'review:'
/** Cause prefix of an event that follows a review which revokes an approval. */
export const REVOKED_CAUSE = 'taken-back:'
/** Cause prefix of an event that follows a change of the campaign's own pull request. */
export const CAMPAIGN_PULL_CAUSE = 'campaign-pull:'
/** Cause prefix of an event that follows the merge of every kept change into the default branch. */
export const MERGED_CAUSE = 'merged at '
const CAUSES_BY_PEOPLE = new RegExp(
  `^(?:${COMMENT_CAUSE}|${REVIEW_CAUSE}|${REVOKED_CAUSE}|${CAMPAIGN_PULL_CAUSE}|${MERGED_CAUSE})`,
)

/** Folds one event in place: the caller owns the campaign. */
export function applyEvent(campaign: Campaign, event: LedgerEvent): void {
  const handle = handlers[event.kind] as (campaign: Campaign, event: LedgerEvent) => void
  // Runs first, because the handler may delete the order.
  recordResultEvents(campaign, event)
  handle(campaign, event)
  countWritingJobs(campaign, event)
  // Ledgers of earlier releases do not state the host. A job of GitHub Actions implies pull requests on GitHub.
  if (isActionsRun(event.by)) campaign.host ??= 'github'
  if (CAUSES_BY_PEOPLE.test(event.cause)) campaign.handled[event.cause] = event.kind
  campaign.seq = event.seq + 1
  campaign.updated_at = event.at
}

const immer = new Immer({ autoFreeze: false })

/**
 * Folds events into a copy that shares what they leave unchanged: with ten thousand experiments a deep copy
 * takes longer than a plan. The campaign it starts from stays as it is.
 */
export class FoldedCopy {
  #campaign: Campaign
  #draft: Campaign | null = null

  constructor(campaign: Campaign) {
    this.#campaign = campaign
  }

  /** Later events change it, and `finish` ends its use. */
  get draft(): Campaign {
    this.#draft ??= immer.createDraft(this.#campaign)
    return this.#draft
  }

  applyEvent(event: LedgerEvent): void {
    applyEvent(this.draft, event)
  }

  /** Returns a plain value that no later event changes. */
  finish(): Campaign {
    if (this.#draft !== null) this.#campaign = immer.finishDraft(this.#draft)
    this.#draft = null
    return this.#campaign
  }
}

export function fold(campaign: Campaign, events: Iterable<LedgerEvent>): Campaign {
  for (const event of events) applyEvent(campaign, event)
  return campaign
}

/** The end of an experiment reads only these events from a long ledger. */
function recordResultEvents(campaign: Campaign, event: LedgerEvent): void {
  const { start, spec } = campaign.set_by
  const seqs = event.kind === 'order-issued' ? [start, spec, event.seq] : [event.seq]
  for (const id of listAffectedExperiments(campaign, event)) {
    const experiment = findSubject(campaign, id)
    if (experiment === undefined || experiment.closed) continue
    experiment.result_events = [...new Set([...experiment.result_events, ...seqs])]
  }
}

function listAffectedExperiments({ orders }: Campaign, event: LedgerEvent): ExperimentId[] {
  if (event.kind === 'order-issued') return event.candidates.map(({ label }) => label)
  if (event.kind === 'decided') return [event.experiment]
  const isOfOrder =
    event.kind === 'measured' || event.kind === 'order-lost' || event.kind === 'report-rejected'
  return isOfOrder ? (orders[event.order]?.order.candidates.map(({ label }) => label) ?? []) : []
}
