import type { Addition } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { subjectsOf } from './picked.ts'

/** When releases were published, by `releaseKey`; null: nobody could tell. */
export type ReleaseDates = ReadonlyMap<string, string | null>

type Release = Pick<Addition, 'ecosystem' | 'name' | 'version' | 'source' | 'integrity'>

/** With its integrity: what is called the same and is something else has a date of its own. */
export function releaseKey({ ecosystem, name, version, source, integrity }: Release): string {
  return JSON.stringify([ecosystem, name, version, source, integrity])
}

/**
 * With when each was published. What a manifest asks for is as old as the youngest of what the lockfile says it
 * comes to; where one of those is of unknown age, so is it (invariant 5).
 */
export function dated(additions: readonly Addition[], dates: ReleaseDates): Addition[] {
  const known = (each: Addition) => dates.get(releaseKey(each)) ?? null
  return additions.map(each => {
    const locked = locksOf(each, additions)
    const all = locked.length === 0 ? [known(each)] : locked.map(known)
    const certain = all.filter(date => date !== null)
    const released = certain.length === all.length ? (certain.toSorted().at(-1) ?? null) : null
    return { ...each, released }
  })
}

/** What a lockfile says that a manifest's range comes to; nothing for what is one version already. */
function locksOf({ ecosystem, name, integrity }: Addition, additions: readonly Addition[]): Addition[] {
  if (integrity !== null) return []
  return additions.filter(
    other => other.integrity !== null && other.ecosystem === ecosystem && other.name === name,
  )
}

const DAY_MS = 86_400_000

/** Whole days at a time; null where the one or the other is not known. */
export function ageInDays(released: string | null | undefined, at: string | null): number | null {
  const days = (Date.parse(at ?? '') - Date.parse(released ?? '')) / DAY_MS
  return Number.isFinite(days) ? Math.max(0, Math.floor(days)) : null
}

/** Unknown is not old enough, and neither is what claims to come from the future. */
export function isOldEnough(released: string | null | undefined, days: number, now: string): boolean {
  return days === 0 || Date.parse(now) - Date.parse(released ?? '') >= days * DAY_MS
}

/** What the ledger knows of it, whoever it was asked for. */
export function recordedDates(campaign: Pick<Campaign, 'experiments' | 'picks'>): Map<string, string> {
  const found = new Map<string, string>()
  for (const { approval } of subjectsOf(campaign)) {
    const { additions = [] } = approval ?? {}
    for (const each of additions)
      if (each.released && locksOf(each, additions).length === 0) found.set(releaseKey(each), each.released)
  }
  return found
}
