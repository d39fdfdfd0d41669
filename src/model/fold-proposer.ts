import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'

export const FAILURES_UNTIL_BENCHED = 3

/** An answer is no success yet: only an idea that gets measured is. No answer is a failure at once. */
export function askedAgain(campaign: Campaign, who: string, { ok, seq }: { ok: boolean; seq: number }): void {
  const before = campaign.proposers[who] ?? { failures: 0, benched: false, asked: -1 }
  campaign.proposers[who] = { ...before, asked: seq }
  if (!ok) countFailure(campaign, who)
}

/** An idea refused before it ran (a duplicate, out of scope, empty) cost as much as none. */
export function ideaRefused(campaign: Campaign, experiment: Experiment): void {
  const who = proposerOf(campaign, experiment)
  if (who !== null) countFailure(campaign, who)
}

export function ideaMeasured(campaign: Campaign, experiment: Experiment): void {
  const who = proposerOf(campaign, experiment)
  const proposer = who === null ? undefined : campaign.proposers[who]
  if (proposer) proposer.failures = 0
}

function countFailure(campaign: Campaign, who: string): void {
  const proposer = campaign.proposers[who]
  if (!proposer) return
  proposer.failures += 1
  proposer.benched ||= proposer.failures >= FAILURES_UNTIL_BENCHED
}

/** `nonce`: another for each asking, so that one idea is opened once and the next is another. */
export function commandKey(name: string, nonce: string): string {
  return `${name.startsWith('command:') ? '' : 'command:'}${name}:${nonce}`
}

/** A program's ideas have the key `command:<name>:<nonce>`, where the name may begin with `command:` itself. */
function proposerOf(campaign: Campaign, { source }: Experiment): string | null {
  if (source.use !== 'command') return null
  const full = source.key.slice(0, source.key.lastIndexOf(':'))
  const short = full.replace(/^command:/, '')
  return [full, short].find(name => Object.hasOwn(campaign.proposers, name)) ?? null
}
