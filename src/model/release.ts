import type { Addition } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { subjectsOf } from './picked.ts'

/** When releases were published, by `releaseKey`; null: asked in vain, undefined: no registry could be asked. */
export type ReleaseDates = ReadonlyMap<string, KnownDate | null | undefined>

export interface KnownDate {
  at: string
  by: NonNullable<Addition['released_by']>
}

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
  return additions.map(each => {
    const { released: _at, released_by: _by, ...rest } = each
    const locked = locksOf(each, additions)
    const all = (locked.length === 0 ? [each] : locked).map(one => dates.get(releaseKey(one)))
    const known = all.filter(date => date !== null && date !== undefined)
    if (known.length === 0 && all.every(date => date === undefined)) return rest
    if (known.length < all.length) return { ...rest, released: null }
    return { ...rest, ...youngest(known) }
  })
}

const SURENESS: readonly KnownDate['by'][] = ['hash', 'name', 'range']

function youngest(dates: readonly KnownDate[]): Pick<Addition, 'released' | 'released_by'> {
  const at =
    dates
      .map(date => date.at)
      .toSorted()
      .at(-1) ?? null
  const least = Math.max(...dates.map(({ by }) => SURENESS.indexOf(by)))
  return { released: at, released_by: SURENESS[least] ?? 'range' }
}

/** What a lockfile says that a manifest's range comes to; nothing for what is one version already. */
export function locksOf(
  { ecosystem, name, integrity }: Addition,
  additions: readonly Addition[],
): Addition[] {
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
export function recordedDates(campaign: Pick<Campaign, 'experiments' | 'picks'>): Map<string, KnownDate> {
  const found = new Map<string, KnownDate>()
  for (const { approval } of subjectsOf(campaign)) {
    const { additions = [] } = approval ?? {}
    for (const each of additions)
      if (each.released && locksOf(each, additions).length === 0)
        found.set(releaseKey(each), { at: each.released, by: each.released_by ?? 'hash' })
  }
  return found
}
