import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces } from '../fields.ts'
import { type ManifestFormat, type InstalledPackage, matchNames, type ManifestReading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'

const entry = z.object({
  name: z.string(),
  version: z.string(),
  source: z.string().optional(),
  checksum: z.string().optional(),
  dependencies: z.array(z.string()).default([]),
})
type CargoLockEntry = z.infer<typeof entry>

const lockfile = z.object({
  version: z.int().min(1).max(4).default(1),
  package: z.array(entry).default([]),
  root: entry.optional(),
  /** Where the first version of the format kept the checksums. */
  metadata: z.record(z.string(), z.string()).default({}),
  patch: z.object({ unused: z.array(entry).default([]) }).default({ unused: [] }),
})

export const cargoLock: ManifestFormat = {
  ecosystem: 'cargo',
  kind: 'lockfile',
  holds: matchNames('cargo.lock'),
  read: readCargoLock,
}

function readCargoLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages, root, metadata, patch } = lockfile.parse(tree)
  const all = [...packages, ...(root === undefined ? [] : [root]), ...patch.unused]
  const own = all.filter(({ source }) => source === undefined)
  const direct = new Set(own.flatMap(({ dependencies }) => dependencies.map(getCargoName)))
  const others = Object.entries(tree).filter(([key]) => !(key in lockfile.shape))
  const found = all.map(each => ({ each, is: toCargoPackage(each, direct, metadata) }))
  return {
    packages: found.map(({ is }) => is),
    rest: flattenPlaces(Object.fromEntries(others), 1),
    installed: collectCargoInstalls(found),
  }
}

/** By every way a dependency may be written: as short as it is certain. */
function collectCargoInstalls(
  found: readonly { each: CargoLockEntry; is: PackageEntry }[],
): Map<string, InstalledPackage> {
  const places = new Map<string, string[]>()
  for (const { each } of found) {
    const { name, version, source = '' } = each
    const full = toCargoKey(each)
    for (const written of [name, `${name} ${version}`, `${name} ${version} (${source})`]) {
      const known = places.get(written)
      if (known === undefined) places.set(written, [full])
      else known.push(full)
    }
  }
  const installed = new Map<string, InstalledPackage>()
  for (const [written, needs] of places) installed.set(written, { package: null, needs })
  for (const { each, is } of found) installed.set(toCargoKey(each), { package: is, needs: each.dependencies })
  return installed
}

function toCargoKey({ name, version, source = '' }: CargoLockEntry): string {
  return JSON.stringify([name, version, source])
}

/** `name`, `name 1.0.0` or `name 1.0.0 (registry+https://…)`. */
function getCargoName(dependency: string): string {
  return dependency.split(' ')[0] ?? dependency
}

function toCargoPackage(
  each: CargoLockEntry,
  direct: ReadonlySet<string>,
  metadata: Readonly<Record<string, string>>,
): PackageEntry {
  const { name, version, source, checksum } = each
  const old = metadata[`checksum ${name} ${version} (${source ?? ''})`]
  return {
    name,
    version,
    source: source?.replace(/^registry\+/, '') ?? 'path',
    integrity: checksum ?? old ?? null,
    direct: direct.has(name),
    scripts: null,
    licence: null,
  }
}
