import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'

export const FAILURES_UNTIL_DISABLED = 3

/** A program that had an idea kept is not disabled before so many more of its answers came to nothing. */
const ANSWERS_AFTER_KEPT = 10

type ProposerState = Campaign['proposers'][string]

/** An answer is no success yet: only an idea that gets measured is. No answer is a failure at once. */
export function recordAnswerOutcome(
  campaign: Campaign,
  who: string,
  { ok, seq }: { ok: boolean; seq: number },
): void {
  const before = campaign.proposers[who] ?? { failures: 0, benched: false, since_kept: null }
  campaign.proposers[who] = { ...before, asked: seq }
  if (!ok) countFailure(campaign, who)
}

/** An idea refused before it ran (a duplicate, out of scope, empty) cost as much as none. */
export function recordRefusedIdea(campaign: Campaign, experiment: Experiment): void {
  const who = findProposer(campaign, experiment)
  if (who !== null) countFailure(campaign, who)
}

export function recordMeasuredIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer) proposer.failures = 0
}

export function recordKeptIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer) Object.assign(proposer, { failures: 0, benched: false, since_kept: 0 })
}

/** Counts an idea that was measured and not kept against its proposer. */
export function recordFailedIdea(campaign: Campaign, experiment: Experiment): void {
  const proposer = campaign.proposers[findProposer(campaign, experiment) ?? '']
  if (proposer && proposer.since_kept !== null) proposer.since_kept += 1
}

/** How many more failures in a row it takes until it is disabled. */
export function countFailuresLeft({
  failures,
  since_kept,
}: Pick<ProposerState, 'failures' | 'since_kept'>): number {
  const grace = since_kept === null ? 0 : ANSWERS_AFTER_KEPT - since_kept
  return Math.max(FAILURES_UNTIL_DISABLED - failures, grace)
}

/** A person has mended what made them fail: they are asked again, and disabled by as many new failures. */
export function enableProposers(campaign: Campaign): void {
  for (const proposer of Object.values(campaign.proposers)) {
    if (proposer.benched) Object.assign(proposer, { failures: 0, benched: false, since_kept: null })
  }
  campaign.alerts = campaign.alerts.filter(({ code }) => code !== 'proposer-benched')
}

export function listDisabledProposers({ proposers }: Pick<Campaign, 'proposers'>): string[] {
  return Object.entries(proposers).flatMap(([who, { benched }]) => (benched ? [who] : []))
}

function countFailure(campaign: Campaign, who: string): void {
  const proposer = campaign.proposers[who]
  if (!proposer) return
  proposer.failures += 1
  if (proposer.since_kept !== null) proposer.since_kept += 1
  proposer.benched ||= countFailuresLeft(proposer) <= 0
}

/** `nonce`: another for each asking, so that one idea is opened once and the next is another. */
export function buildCommandKey(name: string, nonce: string): string {
  return `${name.startsWith('command:') ? '' : 'command:'}${name}:${nonce}`
}

/** A program's ideas have the key `command:<name>:<nonce>`, where the name may begin with `command:` itself. */
export function findProposer(
  campaign: Pick<Campaign, 'proposers'>,
  { source }: Pick<Experiment, 'source'>,
): string | null {
  if (source.use !== 'command') return null
  const full = source.key.slice(0, source.key.lastIndexOf(':'))
  const short = full.replace(/^command:/, '')
  return [full, short].find(name => Object.hasOwn(campaign.proposers, name)) ?? null
}
