import { hashSha256 } from '../model/canonical-json.ts'
import type { Priority } from '../model/event-schemas.ts'
import type { PairedTerms } from '../model/order.ts'
import { foldPath } from '../model/path.ts'
import { isManifest } from './packages.ts'

export type QueuedIdea = { id: string; number: number; category: string; priority: Priority }

export type RankedCandidate = { id: string; number: number; rankScore: number; changedLines: number }

/** One file of a change: its text before and after, null where it does not exist (or is no text). */
export interface ChangedFile {
  path: string
  before: string | null
  after: string | null
}

/** Identifies variants of one idea (docs/deciding.md, How strict), short enough to be recorded. */
export type TouchedLines = NonNullable<PairedTerms['touched']>

/** False while one of the two lists of files is unknown. */
export function areDisjoint(changes: ReadonlyMap<string, readonly string[]>, a: string, b: string): boolean {
  const [first, second] = [changes.get(a), changes.get(b)]
  return first !== undefined && second !== undefined && areFilesDisjoint(first, second)
}

/** The best idea of each category comes first, so that one category does not crowd out others. */
export function selectRound(queued: readonly QueuedIdea[], size: number): string[] {
  const seen = new Set<string>()
  const leaders: QueuedIdea[] = []
  const rest: QueuedIdea[] = []
  for (const experiment of queued.toSorted(comparePriority)) {
    const target = seen.has(experiment.category) ? rest : leaders
    seen.add(experiment.category)
    target.push(experiment)
  }
  return [...leaders, ...rest].slice(0, Math.max(0, size)).map(experiment => experiment.id)
}

const PRIORITY_ORDER: Readonly<Record<Priority, number>> = { high: 0, medium: 1, low: 2 }

function comparePriority(a: QueuedIdea, b: QueuedIdea): number {
  return PRIORITY_ORDER[a.priority] - PRIORITY_ORDER[b.priority] || a.number - b.number
}

/**
 * Candidates for a try on top of the winner: the next in rank whose files touch neither the winner's nor
 * those of a runner-up before it. Without a known list of files a candidate cannot be shown to be disjoint.
 */
export function selectRunnersUp(
  ranked: readonly string[],
  winner: string,
  changes: ReadonlyMap<string, readonly string[]>,
  max: number,
): string[] {
  const usedPaths = [...(changes.get(winner) ?? [])]
  const chosen: string[] = []
  if (!changes.has(winner)) return chosen
  for (const id of ranked) {
    const paths = changes.get(id)
    if (chosen.length >= max) break
    if (id === winner || paths === undefined || !areFilesDisjoint(usedPaths, paths)) continue
    chosen.push(id)
    usedPaths.push(...paths)
  }
  return chosen
}

/** Merge order: largest relative gain, then smallest diff, then lowest number. */
export function rankCandidates<T extends RankedCandidate>(eligible: readonly T[]): T[] {
  return eligible.toSorted(
    (a, b) =>
      compareDescending(a.rankScore, b.rankScore) || a.changedLines - b.changedLines || a.number - b.number,
  )
}

function compareDescending(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b))
  return a === b ? 0 : Math.sign(b - a)
}

// Disjoint changes

/**
 * Whether two changes touch no file in common, so that both may be tried together. Paths include both sides
 * of a rename. Manifests and lockfiles count as one file: they describe one set of packages.
 */
export function areFilesDisjoint(a: readonly string[], b: readonly string[]): boolean {
  const one = buildFootprint(a)
  const other = buildFootprint(b)
  if (one.manifest && other.manifest) return false
  if (hasOverlap(one.paths, other.paths) || hasOverlap(one.paths, other.folders)) return false
  return !hasOverlap(one.folders, other.paths)
}

/** The paths of one change, and every folder that must stay a folder for them to exist. */
function buildFootprint(changed: readonly string[]) {
  const paths = changed.map(foldPath)
  return {
    paths: new Set(paths),
    folders: new Set(paths.flatMap(listParentFolders)),
    manifest: changed.some(isManifest),
  }
}

function listParentFolders(path: string): string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

function hasOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some(member => b.has(member))
}

// Touched lines

/** A larger change keeps its lowest digests only: similar changes keep similar ones. */
const MAX_DIGESTS = 200

/**
 * The lines that a change removes, or if it only adds, those it adds: a constant that is tuned once more is
 * one line, no matter what it is set to. Blanks and indentation make no new idea.
 */
export function digestTouchedLines(files: readonly ChangedFile[]): TouchedLines {
  const names = files.map(({ path }) => path).toSorted()
  const lines = new Set(files.flatMap(digestLines))
  const filesDigest = hashSha256(names.join('\n')).slice(0, 16)
  return { files: filesDigest, lines: [...lines].toSorted().slice(0, MAX_DIGESTS) }
}

function digestLines({ path, before, after }: ChangedFile): string[] {
  const old = splitLines(before)
  const now = splitLines(after)
  const removed = [...old].filter(line => !now.has(line))
  const changed = removed.length > 0 ? removed : [...now].filter(line => !old.has(line))
  return changed.map(line => hashSha256(`${path}\n${line}`).slice(0, 8))
}

function splitLines(text: string | null): Set<string> {
  const lines = (text ?? '').split('\n').map(line => line.trim())
  return new Set(lines.filter(line => line !== ''))
}
