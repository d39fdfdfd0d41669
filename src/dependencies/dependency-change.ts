import type { Addition, DependencyChange, ManifestFault, Package } from './addition.ts'
import { fileChange, type ManifestFile } from './file-change.ts'

/**
 * Everything the candidate would install that the base does not. `files`: each path whose manifest or lockfile
 * differs, null where it is absent; unchanged manifests may come along, to tell what is direct.
 */
export function dependencyChange(files: readonly ManifestFile[]): DependencyChange {
  const changes = files.map(file => ({ path: file.path, ...fileChange(file) }))
  const direct = new Set(
    changes.flatMap(({ ecosystem, wanted }) => wanted.map(name => `${ecosystem} ${name}`)),
  )
  const additions: Addition[] = []
  const faults: ManifestFault[] = []
  let removals = 0
  for (const { path, ecosystem, added, removed, fault } of changes) {
    removals += removed
    if (fault !== null) faults.push({ path, fault })
    if (ecosystem === null) continue
    const isDirect = ({ name, direct: said }: Package) => said ?? (direct.has(`${ecosystem} ${name}`) || null)
    additions.push(...added.map(each => ({ ...each, direct: isDirect(each), ecosystem, path })))
  }
  return { additions, removals, faults }
}
