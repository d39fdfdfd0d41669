import { isManifest } from '../../decide/manifest.ts'
import { refusedAdditions } from '../../decide/additions.ts'
import { additionsDigest } from '../../dependencies/addition.ts'
import { dependencyChange } from '../../dependencies/dependency-change.ts'
import type { ManifestFile } from '../../dependencies/file-change.ts'
import type { DiffEntry } from '../../git/diff-tree.ts'
import type { Repository } from '../../git/repository.ts'
import type { Addition } from '../../model/approval.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'

/** What a candidate does to the packages of its base: what it adds, and why that may not even be asked for. */
export interface DependencyFacts {
  additions: { packages: Addition[]; digest: string }
  refusal: { code: string; message: string } | null
}

export const NO_ADDITIONS: DependencyFacts['additions'] = { packages: [], digest: additionsDigest([]) }

/** Manifests and lockfiles of both trees, read and compared as objects: nothing is installed to find out. */
export async function dependencyFacts(
  repository: Repository,
  spec: Pick<Spec, 'dependencies'>,
  { tree, entries }: { tree: Oid; entries: readonly DiffEntry[] },
): Promise<DependencyFacts> {
  const changed = entries.filter(({ path }) => isManifest(path))
  if (changed.length === 0) return { additions: NO_ADDITIONS, refusal: null }
  const files = await Promise.all(changed.map(entry => changedFile(repository, entry)))
  const { additions, faults } = dependencyChange([...files, ...(await besideThem(repository, tree, files))])
  const [fault] = faults
  return {
    additions: { packages: additions, digest: additionsDigest(additions) },
    refusal:
      fault === undefined
        ? refusedAdditions(spec.dependencies, additions)
        : { code: 'manifest', message: `${fault.path} ${fault.fault}` },
  }
}

async function changedFile(repository: Repository, entry: DiffEntry): Promise<ManifestFile> {
  const { path, oldOid, newOid } = entry
  const [base, candidate] = await Promise.all([blobOf(repository, oldOid), blobOf(repository, newOid)])
  return { path, base, candidate }
}

async function blobOf(repository: Repository, oid: Oid | null): Promise<Uint8Array | null> {
  return oid === null ? null : repository.blob(oid)
}

/** Manifests that stay as they are tell which of a lockfile's packages the project asks for itself. */
async function besideThem(
  repository: Repository,
  tree: Oid,
  changed: readonly ManifestFile[],
): Promise<ManifestFile[]> {
  const known = new Set(changed.map(({ path }) => path))
  const found: ManifestFile[] = []
  for (const folder of new Set(changed.map(({ path }) => path.slice(0, path.lastIndexOf('/') + 1)))) {
    for (const { name, type, oid } of await entriesIn(repository, tree, folder)) {
      const path = `${folder}${name}`
      if (type !== 'blob' || known.has(path) || !isManifest(path)) continue
      const bytes = await repository.blob(oid)
      found.push({ path, base: bytes, candidate: bytes })
    }
  }
  return found
}

async function entriesIn(repository: Repository, tree: Oid, folder: string) {
  if (folder === '') return repository.tree(tree)
  const entry = await repository.entryAt(tree, folder.slice(0, -1))
  return entry?.type === 'tree' ? repository.tree(entry.oid) : []
}
