import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'

export type Ecosystem = 'npm' | 'pypi' | 'cargo' | 'go' | 'rubygems' | 'packagist' | 'maven' | 'nuget'

/** A package as one file tells of it. */
export interface PackageEntry {
  name: string
  /** The exact version of a lockfile, the range of a manifest; `*` where any will do. */
  version: string
  /** A registry's address, a git address, a path; `registry` is whichever the machine that installs has set. */
  source: string
  integrity: string | null
  /** The hash of each file that `integrity` stands for, where it stands for several. */
  files?: readonly string[]
  /** null: this file does not say. */
  direct: boolean | null
  /** Whether code of the package runs when it is installed; null: this file does not say. */
  scripts: boolean | null
  licence: string | null
}

interface PackageRequest extends Pick<PackageEntry, 'name' | 'version'> {
  source?: string
  /** What else was said about it. */
  notes?: readonly string[]
}

/** A package as a manifest asks for it. */
export function buildRequestedPackage({
  name,
  version,
  source = 'registry',
  notes = [],
}: PackageRequest): PackageEntry {
  const said = notes.length === 0 ? version : `${version} (${notes.join(', ')})`
  return { name, version: said, source, integrity: null, direct: true, scripts: null, licence: null }
}

/** A package that the base does not have in this version, from this source, with this integrity. */
export interface AddedPackage extends PackageEntry {
  ecosystem: Ecosystem
  /** How many other additions come with it; null: the file does not say. Absent where it came with another itself. */
  brings?: number | null
  /** The file it was found in. */
  path: string
}

/** What nobody can approve: something else changed than dependencies, or the file cannot be read. */
export interface ManifestFault {
  path: string
  fault: string
}

export interface DependencyChange {
  additions: AddedPackage[]
  removals: number
  faults: ManifestFault[]
}

/** What an approval is bound to. How a package was reached and its licence follow from what is installed. */
export function computeAdditionsDigest(additions: readonly AddedPackage[]): string {
  const lines = additions.map(({ ecosystem, name, version, source, integrity, scripts, path }) =>
    toCanonicalJson({ ecosystem, name, version, source, integrity, scripts, path }),
  )
  return hashSha256([...new Set(lines)].sort().join('\n'))
}
