import { z } from 'zod'
import { askedFor, type Package } from '../addition.ts'
import { type Field, splitFields } from '../fields.ts'
import { type Format, named, type Reading } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { originOf } from './spec.ts'

const RANGES = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']
const OVERRIDES = ['overrides', 'resolutions', 'pnpm.overrides']

const ranges = z.record(z.string(), z.string())
type Overrides = string | { [key: string]: Overrides }
const overrides: z.ZodType<Overrides> = z.lazy(() => z.union([z.string(), z.record(z.string(), overrides)]))

export const packageJson: Format = {
  ecosystem: 'npm',
  kind: 'manifest',
  holds: named('package.json'),
  read: readPackageJson,
}

function readPackageJson(text: string): Reading {
  const tree = parseJsonTree(text)
  const { fields, rest } = splitFields(tree, [...RANGES, ...OVERRIDES])
  return { packages: fields.flatMap(packagesOf), rest }
}

function packagesOf({ path, value }: Field): Package[] {
  if (OVERRIDES.includes(path.join('.'))) return overridden(overrides.parse(value), [])
  return rangesOf(ranges.parse(value))
}

export function rangesOf(wanted: Readonly<Record<string, string>>): Package[] {
  return Object.entries(wanted).map(([key, spec]) => asked(key, spec))
}

/** `{ "a": { "b": "1.0.0" } }`: b wherever a needs it; the key `.` is the package of the object itself. */
export function overridden(wanted: Overrides, within: readonly string[]): Package[] {
  if (typeof wanted !== 'string')
    return Object.entries(wanted).flatMap(([key, inner]) => overridden(inner, [...within, key]))
  const name = chosenBy(within.findLast(key => key !== '.') ?? '')
  const found = asked(name, wanted)
  return [{ ...found, version: `${found.version} (overrides ${within.join('>')})`, direct: false }]
}

/** `debug>ms`, `debug/ms`, `debug/@s/n`, `ms@^2`: the last package named, without its range. */
function chosenBy(selector: string): string {
  const segments = selector.slice(selector.lastIndexOf('>') + 1).split('/')
  const isScoped = segments.at(-2)?.startsWith('@') ?? false
  return segments
    .slice(isScoped ? -2 : -1)
    .join('/')
    .replace(/(?<=.)@.*$/, '')
}

function asked(key: string, spec: string): Package {
  return askedFor(originOf(key, spec))
}
