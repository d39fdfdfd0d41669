import type { PackageEntry } from './addition.ts'

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
