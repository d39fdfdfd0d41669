import { z } from 'zod'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import {
  flattenOthers,
  isTree,
  linkNeedsByName,
  type ManifestReading,
  type NamedLockEntry,
  splitFields,
} from './manifest-format.ts'
import { buildPackage, buildRequestedPackage, type PackageEntry } from './package.ts'
import { parseJsonTree } from './text-formats.ts'

// composer.json

/**
 * `php` and `ext-json` belong to the machine. A change of them changes more than packages, so they are not
 * dependencies here.
 */
export function readComposerJson(text: string): ManifestReading {
  const { fields, rest } = splitFields(parseJsonTree(text), ['require', 'require-dev'])
  const wanted = fields.flatMap(({ path: [kind], value }) =>
    Object.entries(z.record(z.string(), z.string()).parse(value)).map(([name, version]) => ({
      kind,
      name,
      version,
    })),
  )
  const packages = wanted.filter(({ name }) => name.includes('/'))
  const platform = wanted.filter(({ name }) => !name.includes('/'))
  return {
    packages: packages.map(({ name, version }) =>
      buildRequestedPackage({ name: name.toLowerCase(), version }),
    ),
    rest: new Map([
      ...rest,
      ...platform.map(({ kind, name, version }) => [`${kind}.${name}`, version] as const),
    ]),
  }
}

// composer.lock

const origin = z.looseObject({
  type: z.string(),
  url: z.string(),
  reference: z.string().nullish(),
  shasum: z.string().nullish(),
})
const entry = z.looseObject({
  name: z.string(),
  version: z.string(),
  source: origin.optional(),
  dist: origin.optional(),
  type: z.string().default('library'),
  license: z.array(z.string()).default([]),
})
type ComposerEntry = z.infer<typeof entry>

const lockfile = z.object({ packages: z.array(entry), 'packages-dev': z.array(entry).nullish() })

/** Members that repeat composer.json. Changes to them show there. */
const DESCRIBES = [
  ...Object.keys(lockfile.shape),
  '_readme',
  'aliases',
  'content-hash',
  'hash',
  'minimum-stability',
  'platform',
  'platform-dev',
  'plugin-api-version',
  'prefer-lowest',
  'prefer-stable',
  'stability-flags',
]

/** Members that only people read. */
const ABOUT = [
  'time',
  'support',
  'funding',
  'description',
  'keywords',
  'homepage',
  'authors',
  'abandoned',
  'license',
]

export function readComposerLock(text: string): ManifestReading {
  const tree = parseJsonTree(text)
  const lock = lockfile.parse(tree)
  const entries = [...lock.packages, ...(lock['packages-dev'] ?? [])].map(toNamedComposerEntry)
  return {
    packages: entries.map(each => each.package),
    rest: flattenOthers(tree, DESCRIBES),
    installed: linkNeedsByName(entries),
  }
}

/** Parts of PHP or of the machine, which no package provides. */
const PLATFORM = /^(?:php(?:-\w+)?|hhvm|(?:ext|lib)-[\w.-]+|composer(?:-(?:plugin|runtime)-api)?)$/i

/** A package may replace or provide others. Those have no entry of their own. */
function toNamedComposerEntry(each: ComposerEntry): NamedLockEntry {
  const converted = toComposerPackage(each)
  const needs = listComposerLinks(each['require'])
  const others = [each['replace'], each['provide']].flatMap(links => listComposerLinks(links) ?? [])
  return {
    package: converted,
    names: [converted.name, ...others],
    wanted: needs === null ? null : needs.filter(name => !PLATFORM.test(name)),
  }
}

/** PHP writes an empty table as a list. */
function listComposerLinks(links: unknown): string[] | null {
  if (links === undefined || (Array.isArray(links) && links.length === 0)) return []
  return isTree(links) ? Object.keys(links).map(name => name.toLowerCase()) : null
}

/**
 * Composer takes everything from the entry: where to fetch, what to load, what to run. So the integrity
 * covers the whole entry.
 */
function toComposerPackage(each: ComposerEntry): PackageEntry {
  const { name, version, source, dist, type, license } = each
  const origins = [dist, source]
    .filter(from => from !== undefined)
    .map(({ type: kind, url }) => `${kind} ${url}`)
  const relevant = Object.entries(each).filter(([key]) => !ABOUT.includes(key))
  const pinned = dist?.shasum || dist?.reference || source?.reference || 'unpinned'
  return buildPackage({
    name: name.toLowerCase(),
    version,
    source: origins.join(' or ') || 'unknown',
    integrity: `${pinned}, entry sha256:${hashSha256(toCanonicalJson(Object.fromEntries(relevant)))}`,
    scripts: type === 'composer-plugin' || type === 'composer-installer',
    licence: license.join(' or ') || null,
  })
}
