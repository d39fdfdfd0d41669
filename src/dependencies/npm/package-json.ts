import { z } from 'zod'
import { buildRequestedPackage, type PackageEntry } from '../addition.ts'
import { type Field, splitFields } from '../fields.ts'
import { type ManifestFormat, matchNames, type ManifestReading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { parseNpmRange } from './spec.ts'

const RANGES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
const OVERRIDES = ['overrides', 'resolutions', 'pnpm.overrides']

const ranges = z.record(z.string(), z.string())
type Overrides = string | { [key: string]: Overrides }
const overrides: z.ZodType<Overrides> = z.lazy(() => z.union([z.string(), z.record(z.string(), overrides)]))

export const packageJson: ManifestFormat = {
  ecosystem: 'npm',
  kind: 'manifest',
  holds: matchNames('package.json'),
  read: readPackageJson,
}

function readPackageJson(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const { fields, rest } = splitFields(tree, [...RANGES, ...OVERRIDES])
  return { packages: fields.flatMap(parsePackageJsonField), rest }
}

function parsePackageJsonField({ path, value }: Field): PackageEntry[] {
  if (OVERRIDES.includes(path.join('.'))) return listOverrides(overrides.parse(value), [])
  return listRangePackages(ranges.parse(value))
}

export function listRangePackages(wanted: Readonly<Record<string, string>>): PackageEntry[] {
  return Object.entries(wanted).map(([key, spec]) => toNpmRequest(key, spec))
}

/** `{ "a": { "b": "1.0.0" } }`: b wherever a needs it; the key `.` is the package of the object itself. */
export function listOverrides(wanted: Overrides, within: readonly string[]): PackageEntry[] {
  if (typeof wanted !== 'string')
    return Object.entries(wanted).flatMap(([key, inner]) => listOverrides(inner, [...within, key]))
  const name = getOverriddenName(within.findLast(key => key !== '.') ?? '')
  const found = toNpmRequest(name, wanted)
  return [{ ...found, version: `${found.version} (overrides ${within.join('>')})`, direct: false }]
}

/** `debug>ms`, `debug/ms`, `debug/@s/n`, `ms@^2`: the last package named, without its range. */
function getOverriddenName(selector: string): string {
  const segments = selector.slice(selector.lastIndexOf('>') + 1).split('/')
  const isScoped = segments.at(-2)?.startsWith('@') ?? false
  return segments
    .slice(isScoped ? -2 : -1)
    .join('/')
    .replace(/(?<=.)@.*$/, '')
}

function toNpmRequest(key: string, spec: string): PackageEntry {
  return buildRequestedPackage(parseNpmRange(key, spec))
}
