import type { LedgerEvent } from '../../model/event.ts'
import type { Oid } from '../../model/ids.ts'
import { toShortRef } from '../../model/refs.ts'
import type { CampaignContext } from '../place.ts'
import type { AuditEvidence } from './evidence.ts'

export interface KeptCommit {
  commit: Oid
  seq: number
  /** In words, for the sentence that says it is gone. */
  what: string
}

/** What the keeper branch promises to hold, as the events name it. */
export function listKeptCommits(event: LedgerEvent, { measuredHeads }: AuditEvidence): KeptCommit[] {
  const { seq } = event
  if (event.kind === 'merged')
    return [{ commit: event.commit, seq, what: `the landing of ${event.experiment}` }]
  if (event.kind === 'reverted')
    return [{ commit: event.to.commit, seq, what: `the revert of ${event.experiment}` }]
  if (event.kind === 'foreign-tip' && event.state === 'found')
    return [{ commit: event.to.commit, seq, what: 'a foreign tip' }]
  if (event.kind !== 'closed' || event.head === null) return []
  const { experiment, head } = event
  const measured = measuredHeads.has(`${experiment} ${head}`)
  return measured ? [{ commit: head, seq, what: `the measured head of ${experiment}` }] : []
}

const CHUNK = 500

/** Invariant 8: whatever was measured or landed can be reached from one branch. */
export async function findLostCommits(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  kept: readonly KeptCommit[],
): Promise<KeptCommit[]> {
  const keeper = refs.get(place.refs.closed)
  if (keeper === undefined) return [...kept]
  const { repository } = place
  const lost: KeptCommit[] = []
  const here: KeptCommit[] = []
  for (const each of kept) ((await repository.has(each.commit)) ? here : lost).push(each)
  for (let at = 0; at < here.length; at += CHUNK) {
    const chunk = here.slice(at, at + CHUNK)
    const from = chunk.map(({ commit }) => commit)
    const beyond = new Set(await repository.revList({ from, not: keeper }))
    lost.push(...chunk.filter(({ commit }) => beyond.has(commit)))
  }
  return lost.toSorted((a, b) => a.seq - b.seq)
}

export function describeLostCommit(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
  { what, commit }: KeptCommit,
): string {
  const name = toShortRef(place.refs.closed)
  const why = refs.has(place.refs.closed) ? `is not reachable from ${name}` : `is not kept: ${name} is gone`
  return `${what}, ${commit}, ${why}`
}
