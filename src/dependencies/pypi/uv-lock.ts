import { z } from 'zod'
import type { Package } from '../addition.ts'
import { placesOf, textOf } from '../fields.ts'
import { type Format, type Installed, named, type Reading } from '../format.ts'
import { parseTomlTree } from '../toml-text.ts'
import { filesOf, integrityOf, runsBuild } from './distribution-files.ts'
import { normalName } from './requirement.ts'

const file = z.object({
  url: z.string().optional(),
  path: z.string().optional(),
  hash: z.string().optional(),
})
/** The version and the source are written where the name alone is not certain. */
const need = z.object({ name: z.string(), version: z.string().optional(), source: z.unknown().optional() })
const wanted = z.array(need).default([])
const groups = z.record(z.string(), wanted).default({})
const entry = z.object({
  name: z.string(),
  version: z.string().default('*'),
  source: z.record(z.string(), z.string()),
  sdist: file.optional(),
  wheels: z.array(file).default([]),
  dependencies: wanted,
  'dev-dependencies': groups,
  'optional-dependencies': groups,
})
type Entry = z.infer<typeof entry>

const lockfile = z.object({ version: z.literal(1), package: z.array(entry).default([]) })

/** What repeats the manifests, which answer for it. */
const DESCRIBES = new Set([
  ...Object.keys(lockfile.shape),
  'revision',
  'requires-python',
  'resolution-markers',
  'supported-markers',
  'required-markers',
  'manifest',
])

export const uvLock: Format = {
  ecosystem: 'pypi',
  kind: 'lockfile',
  holds: named('uv.lock'),
  read: readUvLock,
}

function readUvLock(text: string): Reading {
  const tree = parseTomlTree(text)
  const { package: packages } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const direct = new Set(packages.filter(isLocal).flatMap(wantedBy).map(normalName))
  return {
    packages: packages.filter(each => !isProject(each)).map(each => packageOf(each, direct)),
    rest: placesOf(Object.fromEntries(others), 1),
    installed: installedIn(packages, direct),
  }
}

/** An extra stands in the lockfile where somebody asks for it, so what any of them needs counts. */
function installedIn(packages: readonly Entry[], direct: ReadonlySet<string>): Map<string, Installed> {
  const places = new Map<string, string | null>()
  for (const each of packages)
    for (const written of spellingsOf(each)) places.set(written, places.has(written) ? null : keyOf(each))
  const found = packages.filter(each => !isProject(each))
  return new Map(
    found.map(each => {
      const extras = Object.values(each['optional-dependencies'])
      const needs = [each.dependencies, ...extras].flat().map(need => places.get(writtenOf(need)) ?? null)
      const certain = needs.filter(place => place !== null)
      const known = certain.length === needs.length ? certain : null
      return [keyOf(each), { package: packageOf(each, direct), needs: known }]
    }),
  )
}

/** By every way a need may be written: as short as it is certain. */
function spellingsOf({ name, version, source }: Entry): string[] {
  return [{ name }, { name, version }, { name, source }, { name, version, source }].map(writtenOf)
}

function writtenOf({ name, version, source }: z.infer<typeof need>): string {
  return textOf([normalName(name), version ?? null, source ?? null])
}

function keyOf({ name, version, source }: Entry): string {
  return JSON.stringify([name, version, source])
}

/** The project that the lockfile belongs to. */
function isProject({ source }: Entry): boolean {
  return source['virtual'] === '.' || source['editable'] === '.'
}

function isLocal({ source }: Entry): boolean {
  return 'virtual' in source || 'editable' in source || 'directory' in source
}

function wantedBy(each: Entry): string[] {
  const inner = [each['dev-dependencies'], each['optional-dependencies']].flatMap(Object.values)
  return [each.dependencies, ...inner].flat().map(({ name }) => name)
}

function packageOf(each: Entry, direct: ReadonlySet<string>): Package {
  const published = [...(each.sdist === undefined ? [] : [each.sdist]), ...each.wheels]
  const files = published.map(({ url, path, hash }) => ({ name: url ?? path ?? '', hash: hash ?? null }))
  const name = normalName(each.name)
  return {
    name,
    version: each.version,
    source: sourceOf(each),
    integrity: integrityOf(files),
    ...filesOf(files),
    direct: direct.has(name),
    scripts: runsBuild(files),
    licence: null,
  }
}

function sourceOf({ source }: Entry): string {
  const [[kind, address] = [], second] = Object.entries(source)
  if (kind === undefined || second !== undefined) return textOf(source)
  return kind === 'registry' || kind === 'url' ? (address ?? '') : `${kind} ${address ?? ''}`
}
