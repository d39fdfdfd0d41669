import { z } from 'zod'
import { hashSha256 } from '../model/canonical-json.ts'
import { getOwnValue } from '../model/own-value.ts'
import {
  flattenOthers,
  formatJson,
  type InstalledPackage,
  linkNeedsByName,
  type ManifestReading,
} from './manifest-format.ts'
import { buildPackage, type PackageEntry } from './package.ts'
import { normalizePythonName } from './python-manifests.ts'
import { parseJsonTree, parseTomlTree } from './text-formats.ts'

// Files of a version

interface DistributionFile {
  name: string
  hash: string | null
}

function describeFiles(files: readonly DistributionFile[]) {
  const hashes = files.map(({ hash }) => hash).filter(hash => hash !== null)
  const isWheel = files.some(({ name }) => /\.whl$/i.test(name))
  return {
    integrity: computeIntegrity(files),
    // An installer may choose any of several files, so all their hashes count.
    ...(files.length > 1 && hashes.length === files.length ? { files: hashes } : {}),
    // Without a wheel, installing runs the package's own build. With wheels, none may fit the machine.
    scripts: files.length > 0 && !isWheel ? true : null,
  }
}

/**
 * The hash of a single file, or of the list of all files with their hashes. Another file is another package.
 */
function computeIntegrity(files: readonly DistributionFile[]): string | null {
  const [only, second] = files
  if (only === undefined) return null
  if (second === undefined && only.hash !== null) return only.hash
  const lines = files.map(({ name, hash }) => `${name} ${hash ?? 'unknown'}`).sort()
  return `${files.length} files, sha256:${hashSha256(lines.join('\n'))}`
}

// uv.lock

const uvFile = z.object({
  url: z.string().optional(),
  path: z.string().optional(),
  hash: z.string().optional(),
})
/** uv writes version and source only where the name is ambiguous. */
const uvNeed = z.object({ name: z.string(), version: z.string().optional(), source: z.unknown().optional() })
const uvNeeds = z.array(uvNeed).default([])
const uvGroups = z.record(z.string(), uvNeeds).default({})
const uvEntry = z.object({
  name: z.string(),
  version: z.string().default('*'),
  source: z.record(z.string(), z.string()),
  sdist: uvFile.optional(),
  wheels: z.array(uvFile).default([]),
  dependencies: uvNeeds,
  'dev-dependencies': uvGroups,
  'optional-dependencies': uvGroups,
})
type UvEntry = z.infer<typeof uvEntry>

const uvLockfile = z.object({ version: z.literal(1), package: z.array(uvEntry).default([]) })

/** Members that repeat the manifests. Changes to them show there. */
const DESCRIBES = [
  ...Object.keys(uvLockfile.shape),
  'revision',
  'requires-python',
  'resolution-markers',
  'supported-markers',
  'required-markers',
  'manifest',
]

export function readUvLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages } = uvLockfile.parse(tree)
  const direct = new Set(packages.flatMap(listUvRequests))
  return {
    packages: packages.filter(each => !isProject(each)).map(each => toUvPackage(each, direct)),
    rest: flattenOthers(tree, DESCRIBES),
    installed: collectUvInstalls(packages, direct),
  }
}

/** uv lists an extra if a package asks for it, so the needs of all extras count. */
function collectUvInstalls(
  packages: readonly UvEntry[],
  direct: ReadonlySet<string>,
): Map<string, InstalledPackage> {
  const places = new Map<string, string | null>()
  for (const each of packages) {
    const { name, version, source } = each
    // uv writes the shortest unambiguous spelling of a need.
    const spellings = [{ name }, { name, version }, { name, source }, { name, version, source }]
    for (const written of spellings.map(formatUvNeed))
      places.set(written, places.has(written) ? null : toUvKey(each))
  }
  const found = packages.filter(each => !isProject(each))
  return new Map(
    found.map(each => {
      const extras = Object.values(each['optional-dependencies'])
      const needs = [each.dependencies, ...extras].flat().map(need => places.get(formatUvNeed(need)) ?? null)
      const certain = needs.filter(place => place !== null)
      const known = certain.length === needs.length ? certain : null
      return [toUvKey(each), { package: toUvPackage(each, direct), needs: known }]
    }),
  )
}

function formatUvNeed({ name, version, source }: z.infer<typeof uvNeed>): string {
  return formatJson([normalizePythonName(name), version ?? null, source ?? null])
}

function toUvKey({ name, version, source }: UvEntry): string {
  return JSON.stringify([name, version, source])
}

function isProject({ source }: UvEntry): boolean {
  return source['virtual'] === '.' || source['editable'] === '.'
}

/** The requirements of this repository's own packages. */
function listUvRequests(each: UvEntry): string[] {
  const isLocal = ['virtual', 'editable', 'directory'].some(kind => Object.hasOwn(each.source, kind))
  if (!isLocal) return []
  const inner = [each['dev-dependencies'], each['optional-dependencies']].flatMap(Object.values)
  return [each.dependencies, ...inner].flat().map(({ name }) => normalizePythonName(name))
}

function toUvPackage(each: UvEntry, direct: ReadonlySet<string>): PackageEntry {
  const published = [...(each.sdist === undefined ? [] : [each.sdist]), ...each.wheels]
  const files = published.map(({ url, path, hash }) => ({ name: url ?? path ?? '', hash: hash ?? null }))
  const name = normalizePythonName(each.name)
  const { version } = each
  const source = formatUvSource(each)
  return buildPackage({ name, version, source, ...describeFiles(files), direct: direct.has(name) })
}

function formatUvSource({ source }: UvEntry): string {
  const [[kind, address] = [], second] = Object.entries(source)
  if (kind === undefined || second !== undefined) return formatJson(source)
  return kind === 'registry' || kind === 'url' ? (address ?? '') : `${kind} ${address ?? ''}`
}

// poetry.lock

const poetryFiles = z.array(z.object({ file: z.string(), hash: z.string() }))
const poetryEntry = z.object({
  name: z.string(),
  version: z.string(),
  files: poetryFiles.default([]),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  source: z
    .object({
      type: z.string(),
      url: z.string(),
      reference: z.string().default(''),
      resolved_reference: z.string().default(''),
      subdirectory: z.string().default(''),
    })
    .optional(),
})
type PoetryEntry = z.infer<typeof poetryEntry>

const poetryLockfile = z.object({
  package: z.array(poetryEntry).default([]),
  /** Version 1 of the format keeps the hashes in `files`. */
  metadata: z.object({
    'lock-version': z.string().regex(/^[12]\./),
    files: z.record(z.string(), poetryFiles).default({}),
  }),
  extras: z.unknown().optional(),
})

export function readPoetryLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages, metadata } = poetryLockfile.parse(tree)
  // If the lockfile has two versions of a package, a marker chooses between them.
  const entries = packages.map(each => {
    const converted = toPoetryPackage(each, getOwnValue(metadata.files, each.name) ?? [])
    const wanted = Object.keys(each.dependencies).map(normalizePythonName)
    return { package: converted, names: [converted.name], wanted }
  })
  return {
    packages: entries.map(each => each.package),
    rest: flattenOthers(tree, Object.keys(poetryLockfile.shape)),
    installed: linkNeedsByName(entries),
  }
}

function toPoetryPackage(
  { name, version, source, files: own }: PoetryEntry,
  old: z.infer<typeof poetryFiles>,
): PackageEntry {
  const published = [...own, ...old].map(({ file, hash }) => ({ name: file, hash }))
  const chosen = [source?.reference, source?.resolved_reference, source?.subdirectory].filter(Boolean)
  return buildPackage({
    name: normalizePythonName(name),
    version,
    source: source === undefined ? 'registry' : `${source.type} ${[source.url, ...chosen].join('#')}`,
    ...describeFiles(published),
  })
}

// Pipfile.lock

const pipfileEntry = z.looseObject({
  version: z.string().default('*'),
  hashes: z.array(z.string()).default([]),
  index: z.string().optional(),
  markers: z.unknown().optional(),
  extras: z.unknown().optional(),
})
const pipfileCategory = z.record(z.string(), pipfileEntry)

/** Every member except `_meta` is a category of packages. */
export function readPipfileLock(text: string): ManifestReading {
  const { _meta: meta, ...categories } = parseJsonTree(text)
  const { sources } = z.object({ sources: z.unknown().optional() }).parse(meta)
  const packages = Object.values(categories).flatMap(each => Object.entries(pipfileCategory.parse(each)))
  return {
    packages: packages.map(([name, each]) => toPipfilePackage(name, each)),
    rest: new Map(sources === undefined ? [] : [['_meta.sources', formatJson(sources)]]),
  }
}

function toPipfilePackage(name: string, each: z.infer<typeof pipfileEntry>): PackageEntry {
  const { version, hashes, index, markers: _, extras: __, ...origin } = each
  const isElsewhere = Object.keys(origin).length > 0
  const elsewhere = formatJson(index === undefined ? origin : { index, ...origin })
  return buildPackage({
    name: normalizePythonName(name),
    version: version.replace(/^==/, ''),
    source: isElsewhere ? elsewhere : (index ?? 'registry'),
    integrity: hashes.toSorted().join(' ') || null,
  })
}
