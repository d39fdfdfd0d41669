import type { PackageEntry } from './addition.ts'
import { toPackageKey } from './added-packages.ts'
import type { InstalledPackage } from './format.ts'

/** Whoever writes a lockfile chooses its size: past this many steps the rest is not known. */
const MOST_STEPS = 500_000

/**
 * How many of the other added packages come with one of them, by what the lockfile says they need; null where it
 * does not say. What two of them need is counted with both: without either it would still come.
 */
export function createTransitiveCounter(
  installed: ReadonlyMap<string, InstalledPackage> | undefined,
  added: readonly PackageEntry[],
): (each: PackageEntry) => number | null {
  const isAdded = new Set(added.map(toPackageKey))
  const places = new Map<string, string[]>()
  for (const [place, { package: found }] of installed ?? []) {
    if (found === null) continue
    const known = places.get(toPackageKey(found))
    if (known === undefined) places.set(toPackageKey(found), [place])
    else known.push(place)
  }
  let steps = 0
  return each => {
    const start = places.get(toPackageKey(each))
    if (installed === undefined || start === undefined || steps > MOST_STEPS) return null
    const seen = new Set(start)
    const found = new Set([toPackageKey(each)])
    const waiting = [...start]
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      const { needs = [] } = installed.get(place) ?? {}
      if (needs === null) return null
      for (const needed of needs) {
        if (++steps > MOST_STEPS) return null
        const other = installed.get(needed)
        if (other === undefined || seen.has(needed)) continue
        const name = other.package && toPackageKey(other.package)
        if (name !== null && !isAdded.has(name)) continue
        seen.add(needed)
        if (name !== null) found.add(name)
        waiting.push(needed)
      }
    }
    return found.size - 1
  }
}
