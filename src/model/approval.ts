import { z } from 'zod'
import { digestSchema } from './ids.ts'
import { toOneLine } from './landing.ts'

const text = z.string()

/** A package that a change brings in, as one manifest or lockfile tells of it; null: the file does not say. */
export const additionSchema = z.strictObject({
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
