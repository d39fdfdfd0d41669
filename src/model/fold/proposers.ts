import { countFruitlessRun, dropAlerts } from '../alerts.ts'
import type {
  BacklogIdea,
  Campaign,
  EventHandler,
  OrderScores,
  PendingJudging,
  PendingProposal,
} from '../campaign.ts'
import type { LedgerEvent } from '../event.ts'
import { isRetryableEnd } from '../event-schemas.ts'
import type { Experiment } from '../experiment.ts'
import type { EventId, ExperimentId } from '../ids.ts'
import { getOwnValue } from '../own-value.ts'

const FAILURES_UNTIL_DISABLED = 3

/** After a kept idea, a program may give this many fruitless answers before it is disabled. */
const ANSWERS_AFTER_KEPT = 10

/** The name of the text gradient among the proposers. */
export const TEXT_GRADIENT = 'textgrad'

type ProposerState = Campaign['proposers'][string]

/** No answer is a failure at once. An answer is not yet a success: its idea has to be measured first. */
export function recordAnswerOutcome(
  campaign: Campaign,
  who: string,
  { ok, seq }: { ok: boolean; seq: number },
): void {
  const before = getOwnValue(campaign.proposers, who) ?? { failures: 0, disabled: false, since_kept: null }
  campaign.proposers[who] = { ...before, asked: seq }
  if (!ok) countFailure(campaign, who)
}

/** An idea refused before it ran (a duplicate, out of scope, empty) counts as a failed answer. */
export function recordRefusedIdea(campaign: Campaign, experiment: Experiment): void {
  countFailure(campaign, findProposer(campaign, experiment) ?? '')
}

export function recordMeasuredIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer) proposer.failures = 0
}

export function recordKeptIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer) Object.assign(proposer, { failures: 0, disabled: false, since_kept: 0 })
}

/** Counts an idea that was measured and not kept against its proposer. */
export function recordFailedIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer && proposer.since_kept !== null) proposer.since_kept += 1
}

/** Counts consecutive failures until the proposer is disabled. */
export function countFailuresLeft({
  failures,
  since_kept,
}: Omit<ProposerState, 'asked' | 'disabled'>): number {
  const grace = since_kept === null ? 0 : ANSWERS_AFTER_KEPT - since_kept
  return Math.max(FAILURES_UNTIL_DISABLED - failures, grace)
}

/** A person who resumes the campaign may have fixed the cause. */
export function enableProposers(campaign: Campaign): void {
  for (const proposer of Object.values(campaign.proposers)) {
    if (proposer.disabled) Object.assign(proposer, { failures: 0, disabled: false, since_kept: null })
  }
  dropAlerts(campaign, ['proposer-disabled'])
}

export function listDisabledProposers({ proposers }: Pick<Campaign, 'proposers'>): string[] {
  return Object.entries(proposers).flatMap(([who, { disabled }]) => (disabled ? [who] : []))
}

/** A text gradient is asked once an epoch, so `epochs.count` limits it, and an epoch without an update is none lost. */
function countFailure(campaign: Campaign, who: string): void {
  const proposer = getOwnValue(campaign.proposers, who)
  if (!proposer || who === TEXT_GRADIENT) return
  proposer.failures += 1
  if (proposer.since_kept !== null) proposer.since_kept += 1
  proposer.disabled ||= countFailuresLeft(proposer) <= 0
}

/** `nonce` differs for each request, so that each answer opens one experiment. */
export function buildCommandKey(name: string, nonce: string): string {
  return `${name.startsWith('command:') ? '' : 'command:'}${name}:${nonce}`
}

/** A program's ideas have the key `command:<name>:<nonce>`. The name itself may start with `command:`. */
export function findProposer(
  campaign: Pick<Campaign, 'proposers'>,
  { source }: Pick<Experiment, 'source'>,
): string | null {
  if (source.use !== 'command') return null
  const full = source.key.slice(0, source.key.lastIndexOf(':'))
  const short = full.replace(/^command:/, '')
  return [full, short].find(name => Object.hasOwn(campaign.proposers, name)) ?? null
}

const applyProposalRequested: EventHandler<'proposal-requested'> = (campaign, event) => {
  const { key, who, base, until, carries = null, angle = null, may_cost_usd = null, at, by } = event
  const about = { key, who, base, until, carries, angle, may_cost_usd, first_unseen: campaign.next_number }
  campaign.proposal_requests[key] = { ...about, asked_at: at, run_id: by.run_id, answer: null }
}

const applyProposalAnswered: EventHandler<'proposal-answered'> = (campaign, event) => {
  const { hypothesis, category, priority, required_deps, family, learnings, patch } = event
  const proposal = campaign.proposal_requests[event.key]
  if (proposal) proposal.answer = { hypothesis, category, priority, required_deps, family, learnings, patch }
}

const applyProposalLost: EventHandler<'proposal-lost'> = (campaign, event) => {
  const proposal = campaign.proposal_requests[event.key]
  if (proposal) countFruitlessRun(campaign, 'fruitless_asking', { run_id: proposal.run_id, at: event.at })
  delete campaign.proposal_requests[event.key]
}

const applyAnswerRepeated: EventHandler<'answer-repeated'> = (campaign, { key, experiment }) => {
  recordSource(campaign, key, experiment)
}

/** Its request is settled: the answer has become an experiment. */
export function recordSource(campaign: Campaign, key: string, experiment: ExperimentId): void {
  campaign.sources[key] = experiment
  delete campaign.answered[key]
  delete campaign.proposal_requests[key]
}

/** Lists the requests without an answer, which count as running in any job. */
export function listPendingProposals({
  proposal_requests: all,
}: Pick<Campaign, 'proposal_requests'>): PendingProposal[] {
  return Object.values(all).filter(proposal => proposal.answer === null)
}

export function collectHandedOutIdeas({
  proposal_requests: all,
}: Pick<Campaign, 'proposal_requests'>): Set<EventId> {
  return new Set(Object.values(all).flatMap(({ carries }) => carries ?? []))
}

export const proposalHandlers = {
  'proposal-requested': applyProposalRequested,
  'proposal-answered': applyProposalAnswered,
  'proposal-lost': applyProposalLost,
  'answer-repeated': applyAnswerRepeated,
}

const NO_SCORES: OrderScores = {
  records: [],
  model: '',
  requests: 0,
  tokens: 0,
  usd: 0,
  ended: null,
  ended_at: '',
  failures: 0,
}

const applyJudgingRequested: EventHandler<'judging-requested'> = (campaign, event) => {
  const { key, order, until, may_cost_usd, at, by } = event
  campaign.judging[key] = { key, order, until, may_cost_usd, asked_at: at, run_id: by.run_id }
}

/** Later judging jobs continue from all earlier scores. */
const applyJudged: EventHandler<'judged'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const { model, records, requests, tokens, usd, ended, at } = event
  const before = live.scores ?? NO_SCORES
  // Without a single score judging could continue forever.
  const failed =
    ended !== null && (!isRetryableEnd(ended.is) || (ended.is === 'late' && records.length === 0))
  live.scores = {
    records: [...before.records, ...records],
    model,
    requests: before.requests + requests,
    tokens: before.tokens + tokens,
    usd: before.usd + usd,
    ended,
    ended_at: at,
    failures: failed ? before.failures + 1 : 0,
  }
}

const applyJudgingLost: EventHandler<'judging-lost'> = (campaign, event) => {
  delete campaign.judging[event.key]
  const live = campaign.orders[event.order]
  if (live === undefined || live.report !== null) return
  const before = live.scores ?? NO_SCORES
  const ended = { is: 'unreachable', reason: event.reason } as const
  live.scores = { ...before, ended, ended_at: event.at, failures: before.failures + 1 }
}

export function findPendingJudging(
  { judging }: Pick<Campaign, 'judging'>,
  order: string,
): PendingJudging | null {
  return Object.values(judging).find(pending => pending.order === order) ?? null
}

export const judgingHandlers = {
  'judging-requested': applyJudgingRequested,
  judged: applyJudged,
  'judging-lost': applyJudgingLost,
}

export function formatIdeaName({ number }: Pick<BacklogIdea, 'number'>): string {
  return `idea-${String(number).padStart(3, '0')}`
}

/** Numbered by their position in the ledger, so that two people can add ideas at the same time. */
const applyHypothesisAdded: EventHandler<'hypothesis-added'> = ({ backlog }, event) => {
  const { id, hypothesis, category, priority, required_deps, family, source } = event
  const fields = { hypothesis, category, priority, required_deps, family, source }
  const status = event.suggested === true ? 'suggested' : 'open'
  const untried = { status, experiment: null, outcome: null, learnings: null } as const
  backlog.push({ id, number: backlog.length + 1, ...fields, ...untried })
}

/** A tried idea stays tried, even when a person drops it later. */
const applyHypothesisUpdated: EventHandler<'hypothesis-updated'> = ({ backlog }, event) => {
  const idea = backlog.find(({ id }) => id === event.hypothesis)
  if (idea === undefined || (idea.status === 'tried' && event.status === 'dropped')) return
  idea.status = event.status
  idea.experiment = event.experiment
  idea.outcome = event.outcome
  idea.learnings = event.learnings
}

export function markIdeaTried({ backlog }: Campaign, event: LedgerEvent<'experiment-opened'>): void {
  const idea = backlog.find(({ id }) => id === event.carries)
  if (idea !== undefined) idea.experiment = event.experiment
}

export const backlogHandlers = {
  'hypothesis-added': applyHypothesisAdded,
  'hypothesis-updated': applyHypothesisUpdated,
}
