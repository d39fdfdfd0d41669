import { z } from 'zod'
import { getOwnValue } from '../model/own-value.ts'
import type { Release, ReleaseDate } from '../ports.ts'
import { canMatchRange } from './version-range.ts'

/** `lastModified` tells when the registry stored the file. */
export interface RegistryAnswer {
  text: string
  lastModified: string | null
}
type AskRegistry = (path: string) => Promise<RegistryAnswer>

type DatedVersion = { version: string; at: string }
type ReleaseQuestion = Pick<Release, 'name'> & { version: string; isExact: boolean }

/** Registries that tell the publication date of a version by its name alone. */
export type NameRegistry = 'npm' | 'cargo' | 'pypi' | 'rubygems' | 'packagist' | 'nuget' | 'maven'

export const NAME_REGISTRIES: Record<NameRegistry, string> = {
  npm: 'https://registry.npmjs.org',
  cargo: 'https://crates.io',
  pypi: 'https://pypi.org',
  rubygems: 'https://rubygems.org',
  packagist: 'https://repo.packagist.org',
  nuget: 'https://api.nuget.org',
  maven: 'https://repo1.maven.org',
}

/** Null: the registry has no such version, or gives no date for it. */
export async function findDateByName(
  registry: NameRegistry,
  question: ReleaseQuestion,
  ask: AskRegistry,
): Promise<ReleaseDate | null> {
  if (registry === 'maven') return fetchMavenDate(question, ask)
  if (registry === 'nuget') return findNugetDate(question, ask)
  const { path, versions } = READERS[registry]
  const answer: unknown = JSON.parse((await ask(path(question.name))).text)
  const version = question.isExact ? question.version : normalizeRange(registry, question.version)
  return selectFittingDate(versions(answer, question.name), { ...question, version })
}

/** Cargo reads a bare version as a minimum. Composer's `~1.2` allows 1.9, as `~>1.2` does in Ruby. */
function normalizeRange(registry: NameRegistry, range: string): string {
  if (registry === 'cargo') return range.replaceAll(/(^|,)\s*(?=\d)/g, '$1^')
  return registry === 'packagist' ? range.replaceAll(/~(?![>=])/g, '~>') : range
}

function selectFittingDate(
  all: readonly DatedVersion[],
  { version, isExact }: ReleaseQuestion,
): ReleaseDate | null {
  const plain = version.replace(/^v(?=\d)/, '')
  if (!isExact) return getRangeDate(all.filter(each => canMatchRange(each.version, version)))
  const found = all.find(each => each.version.replace(/^v(?=\d)/, '') === plain)
  return getLatestDate([found?.at ?? ''], 'name')
}

interface NameRegistryReader {
  path: (name: string) => string
  versions: (answer: unknown, name: string) => DatedVersion[]
}

const npmTimes = z.object({
  time: z.record(z.string(), z.string()),
  versions: z.record(z.string(), z.unknown()),
})
const crateVersions = z.object({ versions: z.array(z.object({ num: z.string(), created_at: z.string() })) })
const pypiReleases = z.object({
  releases: z.record(z.string(), z.array(z.object({ upload_time_iso_8601: z.string() }))),
})
const gemVersions = z.array(z.object({ number: z.string(), created_at: z.string() }))
const packagistVersions = z.object({
  packages: z.record(
    z.string(),
    z.array(z.object({ version: z.string().optional(), time: z.string().optional() })),
  ),
})

const READERS: Record<Exclude<NameRegistry, 'maven' | 'nuget'>, NameRegistryReader> = {
  npm: {
    path: name => `/${encodeURIComponent(name)}`,
    versions: answer => {
      const { time, versions } = npmTimes.parse(answer)
      return Object.keys(versions).map(version => ({ version, at: time[version] ?? '' }))
    },
  },
  cargo: {
    path: name => `/api/v1/crates/${encodeURIComponent(name)}`,
    versions: answer =>
      crateVersions.parse(answer).versions.map(({ num, created_at: at }) => ({ version: num, at })),
  },
  pypi: {
    path: name => `/pypi/${encodeURIComponent(name)}/json`,
    versions: answer =>
      Object.entries(pypiReleases.parse(answer).releases).flatMap(([version, files]) => {
        const times = files.map(each => each.upload_time_iso_8601).toSorted()
        return times.length === 0 ? [] : [{ version, at: times.at(-1) ?? '' }]
      }),
  },
  rubygems: {
    path: name => `/api/v1/versions/${encodeURIComponent(name)}.json`,
    versions: answer =>
      gemVersions.parse(answer).map(({ number, created_at: at }) => ({ version: number, at })),
  },
  packagist: {
    path: name => `/p2/${name.split('/').map(encodeURIComponent).join('/')}.json`,
    versions: (answer, name) => {
      let [version, at] = ['', '']
      // Each entry omits what equals the previous entry.
      return (getOwnValue(packagistVersions.parse(answer).packages, name) ?? []).map(each => {
        version = (each.version ?? version).replace(/^v(?=\d)/, '')
        at = each.time ?? at
        return { version, at }
      })
    },
  },
}

function getRangeDate(fitting: readonly DatedVersion[]): ReleaseDate | null {
  return getLatestDate(
    fitting.map(({ at }) => at),
    'range',
  )
}

/** Null if there is no date, or if one of them is missing or unreadable. */
export function getLatestDate(dates: readonly string[], by: ReleaseDate['by']): ReleaseDate | null {
  const times = dates.map(date => Date.parse(date))
  // nuget.org dates unlisted versions in the year 1900.
  if (times.length === 0 || !times.every(time => time > Date.UTC(1990))) return null
  return { at: new Date(Math.max(...times)).toISOString(), by }
}

// Maven

/**
 * Maven Central tells when it stored a file. For a range, its metadata tells only when the latest version
 * arrived.
 */
async function fetchMavenDate(
  { name, version, isExact }: ReleaseQuestion,
  ask: AskRegistry,
): Promise<ReleaseDate | null> {
  const [group = '', artifact = ''] = name.split(':').map(part => encodeURIComponent(part))
  const folder = `/maven2/${group.replaceAll('.', '/')}/${artifact}`
  if (isExact) {
    const exact = encodeURIComponent(version)
    const { lastModified } = await ask(`${folder}/${exact}/${artifact}-${exact}.pom`)
    return getLatestDate([lastModified ?? ''], 'name')
  }
  const { text } = await ask(`${folder}/maven-metadata.xml`)
  const [, year, month, day, hour, minute, second] =
    /<lastUpdated>\s*(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\s*<\/lastUpdated>/.exec(text) ?? []
  return getLatestDate([`${year}-${month}-${day}T${hour}:${minute}:${second}Z`], 'range')
}

// NuGet

const oneVersion = z.object({ published: z.string() })
const versions = z.array(z.object({ catalogEntry: z.object({ version: z.string(), published: z.string() }) }))
const pages = z.object({
  items: z.array(z.object({ lower: z.string(), upper: z.string(), items: versions.optional() })),
})
const page = z.object({ items: versions })

/** A page has 64 versions. Larger packages would take too many requests. */
const MOST_PAGES = 40
const EXACT = /^\[\s*(\d[\w.+-]*)\s*\]$/

/** A reference to one version allows newer ones too. NuGet installs the lowest version that fits. */
async function findNugetDate(question: ReleaseQuestion, ask: AskRegistry): Promise<ReleaseDate | null> {
  const id = toUrlSegment(question.name)
  const exact = question.isExact ? question.version : EXACT.exec(question.version)?.[1]
  if (exact !== undefined) {
    const { text } = await ask(`/v3/registration5-semver1/${id}/${toUrlSegment(exact)}.json`)
    return getLatestDate([oneVersion.parse(JSON.parse(text)).published], 'name')
  }
  const fits = parseNugetRange(question.version)
  return getRangeDate((await fetchNugetVersions(id, ask)).filter(({ version }) => fits(version)))
}

/** Includes versions that need SemVer 2. Large packages have their versions on separate pages. */
async function fetchNugetVersions(id: string, ask: AskRegistry): Promise<DatedVersion[]> {
  const folder = `/v3/registration5-gz-semver2/${id}`
  const { items } = pages.parse(JSON.parse((await ask(`${folder}/index.json`)).text))
  if (items.length > MOST_PAGES) throw new Error('too many versions')
  const all = await Promise.all(
    items.map(async ({ lower, upper, items: inside }) => {
      if (inside !== undefined) return inside
      const { text } = await ask(`${folder}/page/${toUrlSegment(lower)}/${toUrlSegment(upper)}.json`)
      return page.parse(JSON.parse(text)).items
    }),
  )
  return all.flat().map(({ catalogEntry: { version, published: at } }) => ({ version, at }))
}

function toUrlSegment(text: string): string {
  return encodeURIComponent(text.toLowerCase())
}

const INTERVAL = /^([[(])\s*([\d.]*(?:\.\*|\*)?)\s*,\s*([\d.]*)\s*([\])])$/

/**
 * Parses `[1.0,2.0)`, `1.*` and `*`. A range that names a prerelease, or that is not understood, matches
 * every version.
 */
function parseNugetRange(range: string): (version: string) => boolean {
  if (range.includes('-') || range.includes('$')) return () => true
  const [whole, open, least = '', most = '', close] = INTERVAL.exec(range) ?? []
  if (whole === undefined) return version => canMatchRange(version, range)
  const lowest = least.replace(/\.?\*$/, '')
  const bounds = [
    lowest === '' ? '' : `${open === '[' ? '>=' : '>'}${lowest}`,
    most === '' ? '' : `${close === ']' ? '<=' : '<'}${most}`,
  ]
  return version => canMatchRange(version, bounds.join(' '))
}
