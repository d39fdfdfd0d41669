import type { Package } from './addition.ts'

/** Those of `candidate` that `base` does not have: another version, source or integrity is another package. */
export function addedPackages(base: readonly Package[], candidate: readonly Package[]): Package[] {
  const known = new Map(base.map(each => [identity(each), each]))
  return candidate.filter(each => isNew(known.get(identity(each)), each))
}

/** A package that ran nothing when it was installed, and now would, is new as well. */
function isNew(known: Package | undefined, each: Package): boolean {
  if (known === undefined) return true
  return known.scripts === false && each.scripts === true
}

/** What makes it this package and no other. */
export function identity({ name, version, source, integrity }: Package): string {
  return JSON.stringify([name, version, source, integrity])
}

/** One of each; where several entries tell of one package, whatever any of them knows. */
export function distinct(packages: readonly Package[]): Package[] {
  const found = new Map<string, Package>()
  for (const each of packages) {
    const other = found.get(identity(each))
    found.set(identity(each), other === undefined ? each : merged(other, each))
  }
  return [...found.values()]
}

function merged(one: Package, other: Package): Package {
  return {
    ...one,
    direct: either(one.direct, other.direct),
    scripts: either(one.scripts, other.scripts),
    licence: one.licence ?? other.licence,
  }
}

function either(one: boolean | null, other: boolean | null): boolean | null {
  if (one === true || other === true) return true
  return one ?? other
}
