import { z } from 'zod'
import { digestSchema } from './ids.ts'
import { joinFirst, toOneLine } from './text.ts'

const text = z.string()

/** A package that a change adds, as one manifest or lockfile lists it. Null: the file does not state it. */
const additionSchema = z.strictObject({
  ecosystem: text,
  name: text,
  version: text,
  source: text,
  integrity: text.nullable(),
  direct: z.boolean().nullable(),
  scripts: z.boolean().nullable(),
  licence: text.nullable(),
  /** Number of transitive packages; absent for packages that are transitive themselves. */
  brings: z.number().int().nonnegative().nullable().optional(),
  /** Time of publication. Null: the registry gave no answer; absent: no registry could be asked. */
  released: z.iso.datetime().nullable().optional(),
  /** How the release was identified: by the hash of its files, by its version, or as the youngest in a range. */
  released_by: z.enum(['hash', 'name', 'range']).optional(),
  path: text,
})
export type PackageAddition = z.output<typeof additionSchema>

/** A reason why a person has to read a change before it lands. */
const findingSchema = z.strictObject({
  /** Stays the same when other changes move the line: an approval names it. */
  name: text,
  path: text.nullable(),
  line: z.number().int().nullable(),
  text,
})
export type HoldFinding = z.output<typeof findingSchema>
export const holdFindingsSchema = z.array(findingSchema)

const approvalSchema = z.strictObject({
  /** An approval counts only for the set with this digest. */
  digest: digestSchema,
  /** Names that need approval: of additions, of packages that the idea declares, and of findings. */
  packages: z.array(text),
  /** Every package that the change adds, approved by the spec or not. */
  additions: z.array(additionSchema),
  /** Reasons to read the change of an idea that would be kept. */
  findings: holdFindingsSchema,
  why: text,
  /** Minimum age of packages that the spec approves by name; absent when age was not checked. */
  min_age_days: z.number().nonnegative().optional(),
})
export type ApprovalRequest = z.output<typeof approvalSchema>

/** The first events had only packages, and events never change (invariant 2). */
export const approvalFields = approvalSchema.partial({ additions: true, findings: true, why: true }).shape

export interface Approvable {
  approval: ApprovalRequest | null
  /** Approved names, by the digest of the set they were approved in. */
  approved: Record<string, string[]>
}

/** An approval that has not been withdrawn. */
export interface Consent {
  digest: string
  login: string
  packages: string[]
  at: string
  /** Given by a review, which can be dismissed. */
  review: boolean
}

export function listAwaitedPackages({ approval, approved }: Approvable): string[] {
  if (approval === null) return []
  const approvedNames = approved[approval.digest] ?? []
  return approval.packages.filter(name => !approvedNames.includes(name))
}

export function describeAwaitedPackages(subject: Approvable): string {
  return describeRequest(listAwaitedPackages(subject), subject.approval ?? {})
}

/** Example: "its change (src/a.js can end the process early, and 2 more reasons) and left-pad 1.3.0 (npm)". */
export function describeRequest(
  names: readonly string[],
  { additions = [], findings = [] }: Partial<Pick<ApprovalRequest, 'additions' | 'findings'>>,
): string {
  const isFinding = (name: string) => findings.some(finding => finding.name === name)
  const packages = names.filter(name => !isFinding(name))
  return [
    ...(packages.length === names.length
      ? []
      : [`its change (${summarizeFindings(names.filter(isFinding))})`]),
    ...(packages.length === 0 ? [] : [formatPackages(packages, additions)]),
  ].join(' and ')
}

export function summarizeFindings([first = '', ...more]: readonly string[]): string {
  const shown = toOneLine(first, LONGEST_FINDING_NAME)
  if (more.length === 0) return shown
  return `${shown}, and ${more.length} more ${more.length === 1 ? 'reason' : 'reasons'}`
}

/** Reasons to read the change that no person has approved yet. */
export function listAwaitedFindings(subject: Approvable): HoldFinding[] {
  const awaited = new Set(listAwaitedPackages(subject))
  return subject.approval?.findings.filter(({ name }) => awaited.has(name)) ?? []
}

/** `dependencies.approvers`: a permission, or logins and teams (`org/team`). */
export type Approvers = 'write' | 'admin' | readonly string[]

export function listTeams(approvers: Approvers): string[] {
  return typeof approvers === 'string' ? [] : approvers.filter(name => name.includes('/'))
}

export const READS_TEAMS = 'an App token with members: read, given as app-token; GITHUB_TOKEN never may'

// Texts about packages

/** Long enough that crafting a second set with the same prefix is infeasible. People see and type this prefix. */
export const SHORT_DIGEST_LENGTH = 16

export function getShortDigest({ digest }: Pick<ApprovalRequest, 'digest'>): string {
  return digest.slice(0, SHORT_DIGEST_LENGTH)
}

const PACKAGES_NAMED = 3

/** Formats names as `left-pad 1.3.0 (npm)`. A package that is only declared has no version yet. */
export function formatPackages(names: readonly string[], additions: readonly PackageAddition[]): string {
  const formatted = names.flatMap(name => {
    const found = selectInstalled(additions.filter(each => each.name === name))
    return found.length === 0
      ? [toOneLine(name, LONGEST_PACKAGE_NAME)]
      : [...new Set(found.map(formatPackage))]
  })
  return joinFirst(formatted, PACKAGES_NAMED)
}

const LONGEST_PACKAGE_NAME = 80
const LONGEST_FINDING_NAME = 120

/** Names and versions come from a branch, so they are untrusted text. */
export function formatPackage({ name, version, ecosystem }: PackageAddition): string {
  return `${toOneLine(name, LONGEST_PACKAGE_NAME)} ${toOneLine(version, LONGEST_PACKAGE_NAME)} (${ecosystem})`
}

/** Prefers the exact version of a lockfile over the range of a manifest. */
function selectInstalled(additions: readonly PackageAddition[]): readonly PackageAddition[] {
  const locked = additions.filter(({ integrity }) => integrity !== null)
  const exact = additions.filter(({ version }) => /^v?\d/.test(version))
  return [locked, exact, additions].find(each => each.length > 0) ?? []
}

// Age of releases

/** Null: the registry gave no answer; undefined: no registry could be asked. */
export type ReleaseDates = ReadonlyMap<string, KnownDate | null | undefined>

interface KnownDate {
  at: string
  by: NonNullable<PackageAddition['released_by']>
}

type AddedRelease = Pick<PackageAddition, 'ecosystem' | 'name' | 'version' | 'source' | 'integrity'>

/** The key includes the integrity: a package with the same name and different content has its own date. */
export function buildReleaseKey({ ecosystem, name, version, source, integrity }: AddedRelease): string {
  return JSON.stringify([ecosystem, name, version, source, integrity])
}

/**
 * Adds publication times. A manifest's range counts as old as the youngest locked version that fits; when one of
 * those has an unknown age, so does the range (invariant 5).
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

const DATE_CERTAINTY: readonly KnownDate['by'][] = ['hash', 'name', 'range']

function findYoungest(dates: readonly KnownDate[]): Pick<PackageAddition, 'released' | 'released_by'> {
  const times = dates.map(date => date.at).toSorted()
  const leastCertain = Math.max(...dates.map(({ by }) => DATE_CERTAINTY.indexOf(by)))
  return { released: times.at(-1) ?? null, released_by: DATE_CERTAINTY[leastCertain] ?? 'range' }
}

/** Lists the locked versions of a package that a manifest asks for; empty for an entry of a lockfile itself. */
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

/** Returns whole days; null when either time is unknown. */
export function computeAgeDays(released: string | null | undefined, at: string | null): number | null {
  const days = (Date.parse(at ?? '') - Date.parse(released ?? '')) / DAY_MS
  return Number.isFinite(days) ? Math.max(0, Math.floor(days)) : null
}

/** An unknown age is not old enough, and neither is a time in the future. */
export function isOldEnough(released: string | null | undefined, days: number, now: string): boolean {
  return days === 0 || Date.parse(now) - Date.parse(released ?? '') >= days * DAY_MS
}

/** Collects the publication times in the ledger, from the requests of all experiments. */
export function collectRecordedDates(
  subjects: readonly Pick<Approvable, 'approval'>[],
): Map<string, KnownDate> {
  const found = new Map<string, KnownDate>()
  for (const { approval } of subjects) {
    const { additions = [] } = approval ?? {}
    for (const each of additions)
      if (each.released && findLockedVersions(each, additions).length === 0)
        found.set(buildReleaseKey(each), { at: each.released, by: each.released_by ?? 'hash' })
  }
  return found
}
