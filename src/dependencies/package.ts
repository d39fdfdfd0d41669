import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'

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

/** Those of `candidate` that `base` does not have: another version, source or integrity is another package. */
export function listAddedPackages(
  base: readonly PackageEntry[],
  candidate: readonly PackageEntry[],
): PackageEntry[] {
  const known = new Map(base.map(each => [toPackageKey(each), each]))
  return candidate.filter(each => isNew(known.get(toPackageKey(each)), each))
}

/** A package that ran nothing when it was installed, and now would, is new as well. */
function isNew(known: PackageEntry | undefined, each: PackageEntry): boolean {
  if (known === undefined) return true
  return known.scripts === false && each.scripts === true
}

/** What makes it this package and no other. */
export function toPackageKey({ name, version, source, integrity }: PackageEntry): string {
  return JSON.stringify([name, version, source, integrity])
}

/** One of each; where several entries tell of one package, whatever any of them knows. */
export function dedupePackages(packages: readonly PackageEntry[]): PackageEntry[] {
  const found = new Map<string, PackageEntry>()
  for (const each of packages) {
    const other = found.get(toPackageKey(each))
    found.set(toPackageKey(each), other === undefined ? each : mergePackages(other, each))
  }
  return [...found.values()]
}

function mergePackages(one: PackageEntry, other: PackageEntry): PackageEntry {
  return {
    ...one,
    direct: combineFlags(one.direct, other.direct),
    scripts: combineFlags(one.scripts, other.scripts),
    licence: one.licence ?? other.licence,
  }
}

function combineFlags(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true
  return one ?? other
}

/** What each registry lets a package be called: a name outside it is no name, or one that looks like another. */
const NAMES: Readonly<Record<Ecosystem, RegExp>> = {
  npm: /^(?:@[\w~][\w.~-]*\/)?[\w~][\w.~-]*$/,
  pypi: /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/,
  cargo: /^[A-Za-z_][\w-]*$/,
  go: /^[A-Za-z\d][\w.~-]*(?:\/[\w~-][\w.~-]*)*$/,
  rubygems: /^[A-Za-z\d_][\w.-]*$/,
  packagist: /^[a-z\d][\w.-]*\/[a-z\d][\w.-]*$/i,
  maven: /^[\w.-]+:[\w.-]+$/,
  nuget: /^\w[\w.-]*$/,
}

export function isPackageName(ecosystem: Ecosystem, name: string): boolean {
  return name.length <= 255 && NAMES[ecosystem].test(name)
}
