import type { PackageAddition } from './approval.ts'
import type { Campaign } from './campaign.ts'
import { listSubjects } from './picked.ts'

/** When releases were published, by `releaseKey`; null: asked in vain, undefined: no registry could be asked. */
export type ReleaseDates = ReadonlyMap<string, KnownDate | null | undefined>

export interface KnownDate {
  at: string
  by: NonNullable<PackageAddition['released_by']>
}

type AddedRelease = Pick<PackageAddition, 'ecosystem' | 'name' | 'version' | 'source' | 'integrity'>

/** With its integrity: what is called the same and is something else has a date of its own. */
export function buildReleaseKey({ ecosystem, name, version, source, integrity }: AddedRelease): string {
  return JSON.stringify([ecosystem, name, version, source, integrity])
}

/**
 * With when each was published. What a manifest asks for is as old as the youngest of what the lockfile says it
 * comes to; where one of those is of unknown age, so is it (invariant 5).
 */
export function addReleaseDates(
  additions: readonly PackageAddition[],
  dates: ReleaseDates,
): PackageAddition[] {
  return additions.map(each => {
    const { released: _at, released_by: _by, ...rest } = each
    const locked = findLockedVersions(each, additions)
    const all = (locked.length === 0 ? [each] : locked).map(one => dates.get(buildReleaseKey(one)))
    const known = all.filter(date => date !== null && date !== undefined)
    if (known.length === 0 && all.every(date => date === undefined)) return rest
    if (known.length < all.length) return { ...rest, released: null }
    return { ...rest, ...findYoungest(known) }
  })
}

const DATE_SURENESS: readonly KnownDate['by'][] = ['hash', 'name', 'range']

function findYoungest(dates: readonly KnownDate[]): Pick<PackageAddition, 'released' | 'released_by'> {
  const at =
    dates
      .map(date => date.at)
      .toSorted()
      .at(-1) ?? null
  const least = Math.max(...dates.map(({ by }) => DATE_SURENESS.indexOf(by)))
  return { released: at, released_by: DATE_SURENESS[least] ?? 'range' }
}

/** What a lockfile says that a manifest's range comes to; nothing for what is one version already. */
export function findLockedVersions(
  { ecosystem, name, integrity }: PackageAddition,
  additions: readonly PackageAddition[],
): PackageAddition[] {
  if (integrity !== null) return []
  return additions.filter(
    other => other.integrity !== null && other.ecosystem === ecosystem && other.name === name,
  )
}

const DAY_MS = 86_400_000

/** Whole days at a time; null where the one or the other is not known. */
export function computeAgeDays(released: string | null | undefined, at: string | null): number | null {
  const days = (Date.parse(at ?? '') - Date.parse(released ?? '')) / DAY_MS
  return Number.isFinite(days) ? Math.max(0, Math.floor(days)) : null
}

/** Unknown is not old enough, and neither is what claims to come from the future. */
export function isOldEnough(released: string | null | undefined, days: number, now: string): boolean {
  return days === 0 || Date.parse(now) - Date.parse(released ?? '') >= days * DAY_MS
}

/** What the ledger knows of it, whoever it was asked for. */
export function collectRecordedDates(
  campaign: Pick<Campaign, 'experiments' | 'picks'>,
): Map<string, KnownDate> {
  const found = new Map<string, KnownDate>()
  for (const { approval } of listSubjects(campaign)) {
    const { additions = [] } = approval ?? {}
    for (const each of additions)
      if (each.released && findLockedVersions(each, additions).length === 0)
        found.set(buildReleaseKey(each), { at: each.released, by: each.released_by ?? 'hash' })
  }
  return found
}
