import { z } from 'zod'
import type { Package } from '../addition.ts'
import { placesOf } from '../fields.ts'
import { type Format, type Installed, named, type Reading, Unreadable } from '../format.ts'
import { parseJsonTree } from '../json-text.ts'
import { registryOf } from './spec.ts'

const names = z.record(z.string(), z.string()).default({})
const entry = z.object({
  name: z.string().optional(),
  version: z.string().optional(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().default(false),
  inBundle: z.boolean().default(false),
  hasInstallScript: z.boolean().default(false),
  license: z.unknown().optional(),
  dependencies: names,
  devDependencies: names,
  optionalDependencies: names,
  peerDependencies: names,
})
type Entry = z.infer<typeof entry>

const legacyEntry = z.object({
  version: z.string(),
  resolved: z.string().optional(),
  integrity: z.string().optional(),
  bundled: z.boolean().default(false),
  get dependencies() {
    return z.record(z.string(), legacyEntry).default({})
  },
})
type LegacyEntry = z.infer<typeof legacyEntry>

const lockfile = z.object({
  lockfileVersion: z.union([z.literal(1), z.literal(2), z.literal(3)]),
  packages: z.record(z.string(), entry).default({}),
  dependencies: z.record(z.string(), legacyEntry).default({}),
})

/** What describes the project itself, which package.json answers for. */
const DESCRIBES = new Set(['name', 'version', 'lockfileVersion', 'requires', 'packages', 'dependencies'])
const FOLDER = 'node_modules/'

export const packageLock: Format = {
  ecosystem: 'npm',
  kind: 'lockfile',
  holds: named('package-lock.json', 'npm-shrinkwrap.json'),
  read: readPackageLock,
}

/** Newer versions of npm read `packages` and older ones `dependencies`: what either finds counts. */
function readPackageLock(text: string): Reading {
  const tree = parseJsonTree(text)
  const { packages, dependencies } = lockfile.parse(tree)
  const others = Object.entries(tree).filter(([key]) => !DESCRIBES.has(key))
  const own = Object.entries(packages).filter(([key]) => !key.includes(FOLDER))
  const direct = new Set(own.flatMap(([, each]) => wantedBy(each)))
  const found = Object.entries(packages).map(([key, each]) => ({
    key,
    each,
    is: installed(key, each, direct),
  }))
  const places = new Map<string, Installed>()
  for (const { key, each, is } of found)
    for (const one of is) places.set(key, { package: one, needs: neededBy(packages, key, each) })
  return {
    packages: [
      ...found.flatMap(({ is }) => is),
      ...Object.entries(dependencies).flatMap(([key, each]) => legacy(key, each)),
    ],
    rest: placesOf(Object.fromEntries(others), 1),
    ...(places.size === 0 || Object.keys(packages).some(isTooDeep) ? {} : { installed: places }),
  }
}

/** Where node finds what a package asks for: beside it, or in any folder above. */
function neededBy(packages: Readonly<Record<string, Entry>>, key: string, each: Entry): string[] {
  const { dependencies, optionalDependencies, peerDependencies } = each
  const names = [dependencies, optionalDependencies, peerDependencies].flatMap(Object.keys)
  return names.flatMap(name => {
    for (let folder = key; ; folder = above(folder)) {
      const place = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`
      if (Object.hasOwn(packages, place)) return [place]
      if (folder === '') return []
    }
  })
}

/** No project nests like that, and looking through every folder of it would take forever. */
function isTooDeep(key: string): boolean {
  return key.split('/').length > 100
}

function above(folder: string): string {
  return folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}

function wantedBy(each: Entry): string[] {
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = each
  return [dependencies, devDependencies, optionalDependencies, peerDependencies].flatMap(Object.keys)
}

function installed(key: string, each: Entry, wanted: ReadonlySet<string>): Package[] {
  const at = key.lastIndexOf(FOLDER)
  if (at === -1) return localPackage(key, each)
  if (key.split('/').includes('..'))
    throw new Unreadable(`installs outside the project: ${JSON.stringify(key)}`)
  const folder = key.slice(at + FOLDER.length)
  const name = each.name ?? folder
  const version = each.version ?? '*'
  return [
    {
      name,
      version,
      source: `${sourceOf(name, version, each)}${name === folder ? '' : `, installed as ${folder}`}`,
      integrity: each.integrity ?? null,
      direct: wanted.has(folder) && key.indexOf(FOLDER) === at,
      scripts: each.link ? null : each.hasInstallScript,
      licence: typeof each.license === 'string' ? each.license : null,
    },
  ]
}

/** A package of this repository is not fetched, so an entry of it has no address to fetch from. */
function localPackage(key: string, { resolved }: Entry): Package[] {
  if (resolved === undefined) return []
  throw new Unreadable(`fetches ${JSON.stringify(key)}, which is not in ${FOLDER}, from ${resolved}`)
}

function sourceOf(name: string, version: string, { link, inBundle, resolved }: Entry): string {
  return link ? `path ${resolved ?? 'unknown'}` : fetched({ name, version, resolved, bundled: inBundle })
}

type Fetched = { name: string; version: string; resolved: string | undefined; bundled: boolean }

/** What comes in the files of another package has no address of its own; where one is given, it is told. */
function fetched({ name, version, resolved, bundled }: Fetched): string {
  const address = resolved === undefined ? null : registryOf(name, version, resolved)
  if (bundled) return address === null ? 'bundled' : `bundled or ${address}`
  return address ?? 'registry'
}

function legacy(name: string, each: LegacyEntry): Package[] {
  const inner = Object.entries(each.dependencies).flatMap(([key, nested]) => legacy(key, nested))
  const alias = /^npm:(?<actual>@?[^@]+)@(?<version>.+)$/.exec(each.version)?.groups
  const actual = alias?.['actual'] ?? name
  const version = alias?.['version'] ?? each.version
  const source = `${legacySource(actual, version, each)}${actual === name ? '' : `, installed as ${name}`}`
  const integrity = each.integrity ?? null
  return [{ name: actual, version, source, integrity, direct: null, scripts: null, licence: null }, ...inner]
}

function legacySource(name: string, version: string, { resolved, bundled }: LegacyEntry): string {
  return /[:/]/.test(version) ? version : fetched({ name, version, resolved, bundled })
}
