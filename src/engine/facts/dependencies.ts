import { isManifest } from '../../decide/manifest.ts'
import { findFirstChangedLine, findPackageLine } from '../../decide/first-change.ts'
import { findRefusedAddition } from '../../decide/additions.ts'
import {
  type AddedPackage as Found,
  computeAdditionsDigest,
  type ManifestFault,
} from '../../dependencies/addition.ts'
import { compareDependencies } from '../../dependencies/dependency-change.ts'
import type { ManifestFile } from '../../dependencies/file-change.ts'
import type { DiffEntry } from '../../git/diff-tree.ts'
import type { Repository } from '../../git/repository.ts'
import type { PackageAddition } from '../../model/approval.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'

/** What a candidate does to the packages of its base: what it adds, and why that may not even be asked for. */
export interface DependencyFacts {
  additions: { packages: PackageAddition[]; digest: string; files: ReadonlyMap<string, readonly string[]> }
  refusal: { code: string; message: string; path: string; line: number } | null
}

export const NO_ADDITIONS: DependencyFacts['additions'] = {
  packages: [],
  digest: computeAdditionsDigest([]),
  files: new Map(),
}

/** Manifests and lockfiles of both trees, read and compared as objects: nothing is installed to find out. */
export async function readDependencyFacts(
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
  const [fault] = faults
  return {
    additions: { ...splitFileHashes(additions), digest: computeAdditionsDigest(additions) },
    refusal:
      fault === undefined
        ? findDependencyRefusal(spec, additions, files)
        : toFaultRefusal(fault, getManifestTexts(files, fault.path)),
  }
}

/** A package may be published as a hundred files: who is asked about it sees one hash of them all. */
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

function toFaultRefusal(
  { path, fault }: ManifestFault,
  [before, after]: ManifestTexts,
): DependencyFacts['refusal'] {
  return { code: 'manifest', message: `${path} ${fault}`, path, line: findFirstChangedLine(before, after) }
}

/** Beside the entry that nobody may approve, where its file shows it. */
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

async function readChangedManifest(repository: Repository, entry: DiffEntry): Promise<ManifestFile> {
  const { path, oldOid, newOid } = entry
  const [base, candidate] = await Promise.all([
    readBlobOrNull(repository, oldOid),
    readBlobOrNull(repository, newOid),
  ])
  return { path, base, candidate }
}

async function readBlobOrNull(repository: Repository, oid: Oid | null): Promise<Uint8Array | null> {
  return oid === null ? null : repository.blob(oid)
}

/** Manifests that stay as they are tell which of a lockfile's packages the project asks for itself. */
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
