import { foldPath, isManifest } from './manifest.ts'

/** What one change occupies: its paths, and every folder that must stay a folder for them to exist. */
type Footprint = { paths: ReadonlySet<string>; folders: ReadonlySet<string>; manifest: boolean }

function listParentFolders(path: string): string[] {
  const segments = path.split('/')
  return segments.slice(1).map((_, index) => segments.slice(0, index + 1).join('/'))
}

function buildFootprint(changed: readonly string[]): Footprint {
  const paths = changed.map(foldPath)
  return {
    paths: new Set(paths),
    folders: new Set(paths.flatMap(listParentFolders)),
    manifest: changed.some(isManifest),
  }
}

function hasOverlap(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const member of a) if (b.has(member)) return true
  return false
}

/**
 * Whether two changes touch no file in common, so that both may be tried together. Paths include both sides
 * of a rename. Manifests and lockfiles count as one file: they describe one set of packages.
 */
export function areFilesDisjoint(a: readonly string[], b: readonly string[]): boolean {
  const one = buildFootprint(a)
  const other = buildFootprint(b)
  if (one.manifest && other.manifest) return false
  if (hasOverlap(one.paths, other.paths)) return false
  return !hasOverlap(one.paths, other.folders) && !hasOverlap(one.folders, other.paths)
}
