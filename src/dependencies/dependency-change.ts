import type { Addition, DependencyChange, ManifestFault } from './addition.ts'
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
  return { additions: additions.map(each => ({ ...each, ...counted(each, additions) })), removals, faults }
}

/** A manifest only asks for it; the lockfile beside it tells what that comes to. */
function counted(each: Addition, additions: readonly Addition[]): Pick<Addition, 'brings'> {
  if (each.brings !== null) return {}
  const same = additions.filter(
    other => other.ecosystem === each.ecosystem && other.name === each.name && other.direct !== false,
  )
  const told = new Set(same.flatMap(({ brings }) => (typeof brings === 'number' ? [brings] : [])))
  const [only] = told
  return told.size === 1 && only !== undefined ? { brings: only } : {}
}
