import {
  findFirstChangedLine,
  findPackageLine,
  findRefusedAddition,
  isManifest,
  listUnlistedPackages,
} from '../../decide/packages.ts'
import { checkChanges } from '../../decide/scope-check.ts'
import { type ChangedFile, digestTouchedLines, type TouchedLines } from '../../decide/selection.ts'
import { findSuspiciousChanges, type SuspiciousChange } from '../../decide/suspicious-changes.ts'
import { compareDependencies, type ManifestFile } from '../../dependencies/compare.ts'
import { type AddedPackage as Found, computeAdditionsDigest } from '../../dependencies/package.ts'
import type { DiffEntry } from '../../git/diff.ts'
import type { Repository } from '../../git/repository.ts'
import { listTreeFiles } from '../../git/tree.ts'
import { formatPackages, type PackageAddition } from '../../model/approval.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Oid, Point } from '../../model/ids.ts'
import { foldPath } from '../../model/path.ts'
import type { CandidateChange, CandidateFacts } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileScope } from '../../spec/scope.ts'

type CleanFacts = Extract<CandidateFacts, { merged: 'clean' }>

const RESULTS = '.winnow/results'
const NO_FILE = '000000'

interface CandidateRequest {
  repository: Repository
  campaign: Campaign
  spec: Spec
  incumbent: Point
  head: Oid
  unsynced: Oid | null
}

/** Merges on git objects alone. */
export async function readCandidateFacts(request: CandidateRequest): Promise<CandidateFacts> {
  const { repository, incumbent, head, spec } = request
  const merged = await repository.mergeTree(incumbent.commit, head)
  if (!merged.clean) return { merged: 'conflict', head, base: incumbent.commit, paths: merged.conflicts }
  const tree = await addIncumbentResults(repository, incumbent.tree, merged.tree)
  const entries = await repository.diff(incumbent.tree, tree)
  const { changes, refusal, additions } = await readChangeFacts(repository, spec, { tree, entries })
  const files = await Promise.all(entries.map(entry => readChangedFile(repository, entry)))
  return {
    merged: 'clean',
    head,
    base: incumbent.commit,
    tree,
    changes,
    touched: digestTouchedLines(files),
    suspicious: await findSuspicions(request, files),
    refusal,
    additions,
    aheadOfSync: await isAheadOfSync(request),
    contains: await findRevertedLanding(request),
  }
}

/** winnow writes the results files: a candidate always has the incumbent's. */
async function addIncumbentResults(repository: Repository, incumbent: Oid, tree: Oid): Promise<Oid> {
  const ours = await repository.findEntry(incumbent, RESULTS)
  const theirs = await repository.findEntry(tree, RESULTS)
  if (ours?.oid === theirs?.oid) return tree
  const entry = ours === null ? null : { mode: ours.mode, oid: ours.oid }
  return repository.replaceEntries(tree, [{ path: RESULTS, entry }])
}

/** Reads packages only after the scope check, which refuses every other file. */
async function readChangeFacts(
  repository: Repository,
  spec: Spec,
  change: { tree: Oid; entries: readonly DiffEntry[] },
): Promise<Pick<CleanFacts, 'changes' | 'refusal' | 'additions'>> {
  const changes = await listTreeChanges(repository, change.entries)
  const sameNames = await findSameNames(repository, change)
  const refusal = findScopeRefusal(changes, sameNames, spec)
  if (refusal !== null) {
    const line = await findRefusedLine(repository, change.entries, refusal)
    return { changes, refusal: { ...refusal, line }, additions: NO_ADDITIONS }
  }
  return { changes, ...(await readDependencyFacts(repository, spec, change)) }
}

/** A tip that another process pushed has no pull request to ask on, so the spec has to name its packages. */
export async function findForeignRefusal(
  repository: Repository,
  spec: Spec,
  { from, to }: { from: Oid; to: Oid },
): Promise<CleanFacts['refusal']> {
  const entries = await repository.diff(from, to)
  const { refusal, additions } = await readChangeFacts(repository, spec, { tree: to, entries })
  const { packages } = additions
  const names = listUnlistedPackages(spec.dependencies, packages)
  if (refusal !== null || names.length === 0) return refusal
  const message = `adds ${formatPackages(names, packages)}, which dependencies.approved does not name, or not from there`
  return { code: 'dependencies', message }
}

async function listTreeChanges(
  repository: Repository,
  entries: readonly DiffEntry[],
): Promise<CandidateChange[]> {
  return Promise.all(
    entries.map(async entry => ({
      path: entry.path,
      status: entry.status,
      oldMode: entry.oldMode ?? NO_FILE,
      newMode: entry.newMode ?? NO_FILE,
      added: entry.added,
      deleted: entry.deleted,
      bytes: await readBinarySize(repository, entry),
    })),
  )
}

/** Returns the first changed line for refusals about lines, else 1. */
async function findRefusedLine(
  repository: Repository,
  entries: readonly DiffEntry[],
  { code, path }: NonNullable<CleanFacts['refusal']>,
): Promise<number> {
  const entry = entries.find(each => each.path === path)
  if (entry === undefined || entry.added === null || !LINE_REFUSALS.has(code)) return 1
  if (entry.oldMode === SUBMODULE || entry.newMode === SUBMODULE) return 1
  const { before, after } = await readChangedFile(repository, entry)
  return findFirstChangedLine(before, after)
}

const SUBMODULE = '160000'
const LINE_REFUSALS: ReadonlySet<string> = new Set([
  'out-of-scope',
  'file-type',
  'too-many-files',
  'too-many-lines',
])

async function readBinarySize(repository: Repository, entry: DiffEntry): Promise<number | null> {
  if (entry.added !== null || entry.newOid === null || entry.newMode === SUBMODULE) return null
  return (await repository.blob(entry.newOid)).length
}

/** Finds added files and folders whose name some file systems take for that of another one beside them. */
async function findSameNames(
  repository: Repository,
  { tree, entries }: { tree: Oid; entries: readonly DiffEntry[] },
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { path, oldOid } of entries) {
    const other = oldOid === null ? await findSameName(repository, tree, path) : null
    if (other !== null) found.set(path, other)
  }
  return found
}

async function findSameName(repository: Repository, root: Oid, path: string): Promise<string | null> {
  let tree: Oid | undefined = root
  let folder = ''
  for (const name of path.split('/')) {
    if (tree === undefined) return null
    const entries: readonly { name: string; oid: Oid; type: string }[] = await repository.tree(tree)
    const other = entries.find(entry => entry.name !== name && foldPath(entry.name) === foldPath(name))
    if (other !== undefined) return folder + other.name
    tree = entries.find(entry => entry.name === name && entry.type === 'tree')?.oid
    folder += `${name}/`
  }
  return null
}

function findScopeRefusal(
  changes: readonly CandidateChange[],
  sameNames: ReadonlyMap<string, string>,
  spec: Spec,
): CleanFacts['refusal'] {
  const binaryBytes = new Map(
    changes.flatMap(({ path, bytes }) => (bytes === null ? [] : [[path, bytes] as const])),
  )
  const { isMutable } = compileScope(spec)
  const refusal = checkChanges({ changes, isMutable, limits: spec.limits, binaryBytes, sameNames })
  return refusal && { code: refusal.code, message: refusal.message, path: refusal.path }
}

async function isAheadOfSync({ repository, incumbent, head, unsynced }: CandidateRequest): Promise<boolean> {
  if (unsynced === null) return false
  const shared = await repository.mergeBase(head, unsynced)
  return shared !== null && !(await repository.isAncestor(shared, incumbent.commit))
}

/** Merging a head that contains a reverted landing, but not its revert, would silently change no file. */
async function findRevertedLanding({ repository, campaign, head }: CandidateRequest): Promise<string | null> {
  for (const landing of campaign.landings) {
    if (landing.reverted === null || !(await repository.isAncestor(landing.head, head))) continue
    if (!(await repository.isAncestor(landing.reverted, head))) return landing.experiment
  }
  return null
}

interface DependencyFacts {
  additions: { packages: PackageAddition[]; digest: string; files: ReadonlyMap<string, readonly string[]> }
  refusal: { code: string; message: string; path: string; line: number } | null
}

const NO_ADDITIONS: DependencyFacts['additions'] = {
  packages: [],
  digest: computeAdditionsDigest([]),
  files: new Map(),
}

/** Compares manifests and lockfiles of both trees as git objects, without installing any package. */
async function readDependencyFacts(
  repository: Repository,
  spec: Pick<Spec, 'dependencies'>,
  { tree, entries }: { tree: Oid; entries: readonly DiffEntry[] },
): Promise<DependencyFacts> {
  const changed = entries.filter(({ path }) => isManifest(path))
  if (changed.length === 0) return { additions: NO_ADDITIONS, refusal: null }
  const files = await Promise.all(changed.map(entry => readChangedManifest(repository, entry)))
  const { additions, faults } = compareDependencies([
    ...files,
    ...(await readUnchangedManifests(repository, tree, files)),
  ])
  const found = { ...splitFileHashes(additions), digest: computeAdditionsDigest(additions) }
  const [fault] = faults
  if (fault === undefined) return { additions: found, refusal: findDependencyRefusal(spec, additions, files) }
  const { path } = fault
  const line = findFirstChangedLine(...getManifestTexts(files, path))
  return { additions: found, refusal: { code: 'manifest', message: `${path} ${fault.fault}`, path, line } }
}

/** A package may be published as a hundred files. The approval request shows one hash of them all. */
function splitFileHashes(
  additions: readonly Found[],
): Pick<DependencyFacts['additions'], 'packages' | 'files'> {
  const files = new Map<string, readonly string[]>()
  const packages = additions.map(({ files: hashes, ...each }) => {
    if (hashes !== undefined && each.integrity !== null) files.set(each.integrity, hashes)
    return each
  })
  return { packages, files }
}

/** Points to the line of the refused package, if its file shows it. */
function findDependencyRefusal(
  spec: Pick<Spec, 'dependencies'>,
  additions: readonly PackageAddition[],
  files: readonly ManifestFile[],
): DependencyFacts['refusal'] {
  const refused = findRefusedAddition(spec.dependencies, additions)
  if (refused === null) return null
  const { code, message, about } = refused
  const [, text] = getManifestTexts(files, about.path)
  return { code, message, path: about.path, line: findPackageLine(about.name, text) }
}

type ManifestTexts = readonly [before: string | null, after: string | null]

function getManifestTexts(files: readonly ManifestFile[], path: string): ManifestTexts {
  const file = files.find(each => each.path === path)
  const text = (bytes: Uint8Array | null | undefined) => (bytes ? Buffer.from(bytes).toString('utf8') : null)
  return [text(file?.base), text(file?.candidate)]
}

async function readChangedManifest(
  repository: Repository,
  { path, oldOid, newOid }: DiffEntry,
): Promise<ManifestFile> {
  const base = oldOid === null ? null : await repository.blob(oldOid)
  const candidate = newOid === null ? null : await repository.blob(newOid)
  return { path, base, candidate }
}

/** Unchanged manifests show which packages of a lockfile the project requires directly. */
async function readUnchangedManifests(
  repository: Repository,
  tree: Oid,
  changed: readonly ManifestFile[],
): Promise<ManifestFile[]> {
  const known = new Set(changed.map(({ path }) => path))
  const found: ManifestFile[] = []
  for (const folder of new Set(changed.map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1)))) {
    for (const { name, type, oid } of await listFolderEntries(repository, tree, folder)) {
      const path = `${folder}${name}`
      if (type !== 'blob' || known.has(path) || !isManifest(path)) continue
      const bytes = await repository.blob(oid)
      found.push({ path, base: bytes, candidate: bytes })
    }
  }
  return found
}

async function listFolderEntries(repository: Repository, tree: Oid, folder: string) {
  if (folder === '') return repository.tree(tree)
  const entry = await repository.findEntry(tree, folder.slice(0, -1))
  return entry?.type === 'tree' ? repository.tree(entry.oid) : []
}

export async function compareTouchedLines(repository: Repository, from: Oid, to: Oid): Promise<TouchedLines> {
  return readTouchedLines(repository, await repository.diff(from, to))
}

const RULER_PATH = /test|spec|bench|fixture|perf|golden|expected|snapshot/i
const MOST_RULERS = 300
const MOST_RULER_BYTES = 200_000
const knownRulers = new WeakMap<Repository, { key: string; texts: Promise<string[]> }>()

/** Texts of tests, benchmarks and their data, which no candidate can change. Candidates of a tick share them. */
async function findSuspicions(
  { repository, spec, incumbent }: CandidateRequest,
  files: readonly ChangedFile[],
): Promise<SuspiciousChange[]> {
  const rulers = await readRulers(repository, spec, incumbent.tree)
  const found = findSuspiciousChanges(files, rulers)
  if (!found.some(({ rule }) => rule === 'copied_literal')) return found
  const { isMutable } = compileScope(spec)
  return findSuspiciousChanges(files, rulers, await readTexts(repository, incumbent.tree, isMutable))
}

function readRulers(repository: Repository, spec: Spec, tree: Oid): Promise<string[]> {
  const key = JSON.stringify([tree, spec.scope])
  const known = knownRulers.get(repository)
  if (known?.key === key) return known.texts
  const texts = readRulerTexts(repository, spec, tree)
  knownRulers.set(repository, { key, texts })
  return texts
}

async function readRulerTexts(repository: Repository, spec: Spec, tree: Oid): Promise<string[]> {
  const { isMutable } = compileScope(spec)
  return readTexts(repository, tree, path => RULER_PATH.test(path) && !isMutable(path))
}

async function readTexts(
  repository: Repository,
  tree: Oid,
  isWanted: (path: string) => boolean,
): Promise<string[]> {
  const files = (await listTreeFiles(repository, tree))
    .filter(({ path, mode }) => mode.startsWith('100') && isWanted(path))
    .slice(0, MOST_RULERS)
  const blobs = await Promise.all(files.map(({ oid }) => repository.blob(oid)))
  return blobs.filter(({ length }) => length <= MOST_RULER_BYTES).map(blob => blob.toString('utf8'))
}

async function readTouchedLines(
  repository: Repository,
  entries: readonly DiffEntry[],
): Promise<TouchedLines> {
  return digestTouchedLines(await Promise.all(entries.map(entry => readChangedFile(repository, entry))))
}

async function readChangedFile(repository: Repository, entry: DiffEntry): Promise<ChangedFile> {
  const { path, oldOid, newOid, oldMode, newMode, added } = entry
  const text = async (oid: Oid | null, mode: string | null) =>
    oid === null || added === null || mode === SUBMODULE
      ? null
      : (await repository.blob(oid)).toString('utf8')
  return { path, before: await text(oldOid, oldMode), after: await text(newOid, newMode) }
}
