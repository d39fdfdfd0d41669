import { hashSha256, toCanonicalJson } from './canonical-json.ts'
import type { LedgerEvent } from './event.ts'

/**
 * What a run says it wrote: each range of events, by the sha256 of the range's last file, and each report, by that of
 * the event that holds it. A file's digest covers all events before it, because each event holds the digest of the
 * one before.
 */
export interface WrittenSubject {
  name: string
  sha256: string
}

const EVENTS = /^winnow\/([a-z0-9-]+)\/events\/(\d+)-(\d+)$/
const REPORT = /^winnow\/([a-z0-9-]+)\/reports\/([0-9a-f]{64})$/

export function computeFileDigest(event: LedgerEvent): string {
  return hashSha256(`${toCanonicalJson(event)}\n`)
}

/** Lists the subjects of events in the order of their numbers. */
export function listWrittenSubjects(campaign: string, events: readonly LedgerEvent[]): WrittenSubject[] {
  const subjects: WrittenSubject[] = []
  let first = 0
  for (const [at, event] of events.entries()) {
    const next = events[at + 1]
    if (event.kind === 'measured') {
      const name = `winnow/${campaign}/reports/${event.order}`
      subjects.push({ name, sha256: computeFileDigest(event) })
    }
    if (next?.seq === event.seq + 1) continue
    const from = events[first]?.seq ?? event.seq
    subjects.push({
      name: `winnow/${campaign}/events/${from}-${event.seq}`,
      sha256: computeFileDigest(event),
    })
    first = at + 1
  }
  return subjects
}

/** The lines of `sha256sum`, which GitHub's action for attestations reads. */
export function formatChecksums(subjects: readonly WrittenSubject[]): string {
  return subjects.map(({ name, sha256 }) => `${sha256}  ${name}`).join('\n')
}

export type ParsedSubject =
  | { of: 'events'; campaign: string; from: number; to: number }
  | { of: 'report'; campaign: string; order: string }

/** Null for a subject that winnow does not write. */
export function parseSubjectName(name: string): ParsedSubject | null {
  const [, campaign, from, to] = EVENTS.exec(name) ?? []
  if (campaign !== undefined) return { of: 'events', campaign, from: Number(from), to: Number(to) }
  const [, owner, order] = REPORT.exec(name) ?? []
  return owner === undefined || order === undefined ? null : { of: 'report', campaign: owner, order }
}
