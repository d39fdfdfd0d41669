import { z } from 'zod'
import type { PackageEntry } from '../addition.ts'
import { flattenPlaces, formatJson } from '../fields.ts'
import { type ManifestFormat, type InstalledPackage, matchNames, type ManifestReading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { collectFileHashes, computeIntegrity, isBuiltOnInstall } from './distribution-files.ts'
import { normalizePythonName } from './requirement.ts'

const uvFile = z.object({
  url: z.string().optional(),
  path: z.string().optional(),
  hash: z.string().optional(),
})
/** The version and the source are written where the name alone is not certain. */
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

/** What repeats the manifests, which answer for it. */
const DESCRIBES = new Set([
  ...Object.keys(uvLockfile.shape),
  'revision',
  'requires-python',
  'resolution-markers',
  'supported-markers',
  'required-markers',
  'manifest',
])

export const uvLock: ManifestFormat = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: matchNames('uv.lock'),
  read: readUvLock,
}

function readUvLock(text: string): ManifestReading {
  const tree = parseTomlTree(text)
  const { package: packages } = uvLockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const direct = new Set(packages.filter(isLocal).flatMap(listUvNeeds).map(normalizePythonName))
  return {
    packages: packages.filter(each => !isProject(each)).map(each => toUvPackage(each, direct)),
    rest: flattenPlaces(Object.fromEntries(others), 1),
    installed: collectUvInstalls(packages, direct),
  }
}

/** An extra stands in the lockfile where somebody asks for it, so what any of them needs counts. */
function collectUvInstalls(
  packages: readonly UvEntry[],
  direct: ReadonlySet<string>,
): Map<string, InstalledPackage> {
  const places = new Map<string, string | null>()
  for (const each of packages)
    for (const written of listUvSpellings(each))
      places.set(written, places.has(written) ? null : toUvKey(each))
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

/** By every way a need may be written: as short as it is certain. */
function listUvSpellings({ name, version, source }: UvEntry): string[] {
  return [{ name }, { name, version }, { name, source }, { name, version, source }].map(formatUvNeed)
}

function formatUvNeed({ name, version, source }: z.infer<typeof uvNeed>): string {
  return formatJson([normalizePythonName(name), version ?? null, source ?? null])
}

function toUvKey({ name, version, source }: UvEntry): string {
  return JSON.stringify([name, version, source])
}

/** The project that the lockfile belongs to. */
function isProject({ source }: UvEntry): boolean {
  return source['virtual'] === '.' || source['editable'] === '.'
}

function isLocal({ source }: UvEntry): boolean {
  return 'virtual' in source || 'editable' in source || 'directory' in source
}

function listUvNeeds(each: UvEntry): string[] {
  const inner = [each['dev-dependencies'], each['optional-dependencies']].flatMap(Object.values)
  return [each.dependencies, ...inner].flat().map(({ name }) => name)
}

function toUvPackage(each: UvEntry, direct: ReadonlySet<string>): PackageEntry {
  const published = [...(each.sdist === undefined ? [] : [each.sdist]), ...each.wheels]
  const files = published.map(({ url, path, hash }) => ({ name: url ?? path ?? '', hash: hash ?? null }))
  const name = normalizePythonName(each.name)
  return {
    name,
    version: each.version,
    source: formatUvSource(each),
    integrity: computeIntegrity(files),
    ...collectFileHashes(files),
    direct: direct.has(name),
    scripts: isBuiltOnInstall(files),
    licence: null,
  }
}

function formatUvSource({ source }: UvEntry): string {
  const [[kind, address] = [], second] = Object.entries(source)
  if (kind === undefined || second !== undefined) return formatJson(source)
  return kind === 'registry' || kind === 'url' ? (address ?? '') : `${kind} ${address ?? ''}`
}
