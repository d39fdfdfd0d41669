import { z } from 'zod'
import type { Campaign } from './campaign.ts'
import { listSubjects } from './experiment.ts'
import { digestSchema } from './ids.ts'
import { toOneLine } from './text.ts'

const text = z.string()

/** A package that a change brings in, as one manifest or lockfile tells of it; null: the file does not say. */
const additionSchema = z.strictObject({
  ecosystem: text,
  name: text,
  version: text,
  source: text,
  integrity: text.nullable(),
  direct: z.boolean().nullable(),
  scripts: z.boolean().nullable(),
  licence: text.nullable(),
  /** How many others come with it; absent of what came with another itself, and before it was counted. */
  brings: z.number().int().nonnegative().nullable().optional(),
  /** When its registry says it was published; null where that was asked in vain, absent where none could be asked. */
  released: z.iso.datetime().nullable().optional(),
  /** How surely: by the hash of its files, by name and version, or as the youngest that a range may come to. */
  released_by: z.enum(['hash', 'name', 'range']).optional(),
  path: text,
})
export type PackageAddition = z.output<typeof additionSchema>

/** As the ledger has it: the first events named the packages alone, and an event is never changed (invariant 2). */
export const approvalFields = {
  digest: digestSchema,
  packages: z.array(text),
  additions: z.array(additionSchema).optional(),
  why: text.optional(),
  /** What the spec allows by name has to be as old as this. */
  min_age_days: z.number().nonnegative().optional(),
}

/** What an experiment waits for: an approval counts for the set with this digest and for no other. */
export interface ApprovalRequest {
  digest: string
  /** Names that somebody has to allow: of additions, and of what the idea says it needs. */
  packages: string[]
  /** All that the change brings in, allowed by the spec or not. */
  additions: PackageAddition[]
  /** The proposer's words. */
  why: string
  /** How old what the spec allows by name had to be; absent where age was not asked about. */
  min_age_days?: number | undefined
}

export interface Approvable {
  approval: ApprovalRequest | null
  /** Names allowed so far, by the digest of the set they were allowed in. */
  approved: Record<string, string[]>
}

/** Who allowed what of which set, as long as nobody took that back. */
export interface Consent {
  digest: string
  login: string
  packages: string[]
  at: string
  /** By a review, which may be dismissed. */
  review: boolean
}

/** What is still to be allowed of the set that was last asked for. */
export function listAwaitedPackages({ approval, approved }: Approvable): string[] {
  if (approval === null) return []
  const given = approved[approval.digest] ?? []
  return approval.packages.filter(name => !given.includes(name))
}

export function describeAwaitedPackages(subject: Approvable): string {
  return formatPackages(listAwaitedPackages(subject), subject.approval?.additions ?? [])
}

/** So much of a set's digest that nobody can make another set with the same beginning: shown, and asked for. */
export const SHORT_DIGEST_LENGTH = 16

export function getShortDigest({ digest }: Pick<ApprovalRequest, 'digest'>): string {
  return digest.slice(0, SHORT_DIGEST_LENGTH)
}

/** A text about an approval ends with this, so that it can be told whether it is out of date. */
export function buildApprovalMark(subject: Approvable): string | null {
  const { approval } = subject
  if (approval === null) return null
  const missing = listAwaitedPackages(subject).length
  return `<!-- winnow packages ${getShortDigest(approval)}: ${missing === 0 ? 'approved' : `${missing} to be approved`} -->`
}

const PACKAGES_NAMED = 3

/** `left-pad 1.3.0 (npm)`, in every sentence about it; what is only said to be needed has no version yet. */
export function formatPackages(names: readonly string[], additions: readonly PackageAddition[]): string {
  const said = names.flatMap(name => {
    const found = selectInstalled(additions.filter(each => each.name === name))
    return found.length === 0
      ? [toOneLine(name, LONGEST_PACKAGE_NAME)]
      : [...new Set(found.map(formatPackage))]
  })
  const more = said.length - PACKAGES_NAMED
  return more > 0 ? `${said.slice(0, PACKAGES_NAMED).join(', ')} and ${more} more` : said.join(', ')
}

const LONGEST_PACKAGE_NAME = 80

/** Names and versions are whatever a branch says they are. */
export function formatPackage({ name, version, ecosystem }: PackageAddition): string {
  return `${toOneLine(name, LONGEST_PACKAGE_NAME)} ${toOneLine(version, LONGEST_PACKAGE_NAME)} (${ecosystem})`
}

/** Where a lockfile says which version a manifest's range comes to, that version is what matters. */
function selectInstalled(additions: readonly PackageAddition[]): readonly PackageAddition[] {
  const certain = [({ integrity }: PackageAddition) => integrity !== null, isExactVersion]
  const telling = certain.map(says => additions.filter(says)).find(each => each.length > 0)
  return telling ?? additions
}

function isExactVersion({ version }: PackageAddition): boolean {
  return /^v?\d/.test(version)
}

/** When releases were published, by `buildReleaseKey`; null: asked in vain, undefined: no registry could be asked. */
export type ReleaseDates = ReadonlyMap<string, KnownDate | null | undefined>

interface KnownDate {
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
