import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'

export type Ecosystem = 'npm' | 'pypi' | 'cargo' | 'go' | 'rubygems' | 'packagist' | 'maven' | 'nuget'

export interface PackageEntry {
  name: string
  /** A lockfile has the exact version, a manifest a range. `*` allows any version. */
  version: string
  /**
   * Address of a registry or of git, or a path. `registry` means the registry that the installing machine is
   * configured with.
   */
  source: string
  integrity: string | null
  /** Hashes of the single files, where `integrity` covers several. */
  files?: readonly string[]
  /** Null: this file does not say. */
  direct: boolean | null
  /** Whether installing the package runs its code. Null: this file does not say. */
  scripts: boolean | null
  licence: string | null
}

type KnownPackage = Pick<PackageEntry, 'name' | 'version'> & Partial<PackageEntry>

/** A field is null where the file does not state it. */
export function buildPackage(known: KnownPackage): PackageEntry {
  return { source: 'registry', integrity: null, direct: null, scripts: null, licence: null, ...known }
}

/** For manifests. The notes become part of the version: another option is another request. */
export function buildRequestedPackage(known: KnownPackage, notes: readonly string[] = []): PackageEntry {
  const version = notes.length === 0 ? known.version : `${known.version} (${notes.join(', ')})`
  return buildPackage({ direct: true, ...known, version })
}

/** A package whose version, source or integrity the base does not have. */
export interface AddedPackage extends PackageEntry {
  ecosystem: Ecosystem
  /**
   * How many other additions come with this one. Null: the file does not say. Absent for a package that is
   * not direct.
   */
  brings?: number | null
  path: string
}

/**
 * A change that cannot be approved: of something other than dependencies, or in a file that cannot be read.
 */
export interface ManifestFault {
  path: string
  fault: string
}

export interface DependencyChange {
  additions: AddedPackage[]
  removals: number
  faults: ManifestFault[]
}

/**
 * An approval is bound to this digest. It leaves out the licence and how a package was reached, which follow
 * from what is installed.
 */
export function computeAdditionsDigest(additions: readonly AddedPackage[]): string {
  const lines = additions.map(({ ecosystem, name, version, source, integrity, scripts, path }) =>
    toCanonicalJson({ ecosystem, name, version, source, integrity, scripts, path }),
  )
  return hashSha256([...new Set(lines)].sort().join('\n'))
}

/** A package with another version, source or integrity is another package. */
export function listAddedPackages(
  base: readonly PackageEntry[],
  candidate: readonly PackageEntry[],
): PackageEntry[] {
  const known = new Map(base.map(each => [toPackageKey(each), each]))
  return candidate.filter(each => {
    const same = known.get(toPackageKey(each))
    // A known package is new again if it starts to run code when it is installed.
    return same === undefined || (same.scripts === false && each.scripts === true)
  })
}

export function toPackageKey({ name, version, source, integrity }: PackageEntry): string {
  return JSON.stringify([name, version, source, integrity])
}

/** Merges entries of the same package and keeps what any of them knows. */
export function dedupePackages(packages: readonly PackageEntry[]): PackageEntry[] {
  const found = new Map<string, PackageEntry>()
  for (const each of packages) {
    const other = found.get(toPackageKey(each))
    const { direct = null, scripts = null, licence = null } = other ?? {}
    found.set(toPackageKey(each), {
      ...(other ?? each),
      direct: combineFlags(direct, each.direct),
      scripts: combineFlags(scripts, each.scripts),
      licence: licence ?? each.licence,
    })
  }
  return [...found.values()]
}

function combineFlags(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true
  return one ?? other
}

/** Names that each registry allows. Others are typing mistakes or imitate another package. */
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
