import type { AddedPackage, DependencyChange, ManifestFault } from './addition.ts'
import { compareManifest, type ManifestFile } from './file-change.ts'

/**
 * Everything the candidate would install that the base does not. `files`: each path whose manifest or lockfile
 * differs, null where it is absent; unchanged manifests may come along, to tell what is direct.
 */
export function compareDependencies(files: readonly ManifestFile[]): DependencyChange {
  const changes = files.map(file => ({ path: file.path, ...compareManifest(file) }))
  const direct = new Set(
    changes.flatMap(({ ecosystem, wanted }) => wanted.map(name => `${ecosystem} ${name}`)),
  )
  const additions: AddedPackage[] = []
  const faults: ManifestFault[] = []
  let removals = 0
  for (const { path, ecosystem, added, brings, removed, fault } of changes) {
    removals += removed
    if (fault !== null) faults.push({ path, fault })
    if (ecosystem === null) continue
    for (const each of added) {
      const isDirect = each.direct ?? (direct.has(`${ecosystem} ${each.name}`) || null)
      const more = isDirect === false ? {} : { brings: brings(each) }
      additions.push({ ...each, direct: isDirect, ecosystem, ...more, path })
    }
  }
  const asking = new Set(changes.filter(({ wanted }) => wanted.length > 0).map(({ path }) => path))
  return { additions: addTransitiveCounts(additions, asking), removals, faults }
}

/** A manifest only asks for it; the lockfile beside it tells what that comes to. */
function addTransitiveCounts(
  additions: readonly AddedPackage[],
  asking: ReadonlySet<string>,
): AddedPackage[] {
  const told = new Map<string, Set<number>>()
  for (const { ecosystem, name, brings, direct } of additions) {
    if (direct === false || typeof brings !== 'number') continue
    const key = `${ecosystem} ${name}`
    told.set(key, (told.get(key) ?? new Set()).add(brings))
  }
  return additions.map(each => {
    const counts = told.get(`${each.ecosystem} ${each.name}`)
    const [only] = counts ?? []
    const isCertain = each.brings === null && asking.has(each.path) && counts?.size === 1
    return isCertain && only !== undefined ? { ...each, brings: only } : each
  })
}
