import { z } from 'zod'
import type { ReleaseDate } from '../ports.ts'
import { findNugetDate } from './nuget/nuget-dates.ts'
import {
  type AskRegistry,
  type DatedVersion,
  toReleaseDate,
  type ReleaseQuestion,
  getLatestDate,
} from './release-date.ts'
import { canMatchRange } from './version-range.ts'

/** Registries that tell when a version was published to those who know its name and nothing else. */
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

/** Null where the registry has no such version, or tells no date of it. */
export async function findDateByName(
  registry: NameRegistry,
  question: ReleaseQuestion,
  ask: AskRegistry,
): Promise<ReleaseDate | null> {
  if (registry === 'maven') return fetchMavenDate(question, ask)
  if (registry === 'nuget') return findNugetDate(question, ask)
  const { path, versions } = READERS[registry]
  const answer: unknown = JSON.parse((await ask(path(question.name))).text)
  return selectFittingDate(versions(answer, question.name), question)
}

function selectFittingDate(
  all: readonly DatedVersion[],
  { version, isExact }: ReleaseQuestion,
): ReleaseDate | null {
  const plain = version.replace(/^v(?=\d)/, '')
  if (isExact) {
    const found = all.find(each => each.version.replace(/^v(?=\d)/, '') === plain)
    return found === undefined ? null : toReleaseDate(found.at, 'name')
  }
  return getLatestDate(all.filter(each => canMatchRange(each.version, version)))
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
      // Each entry leaves out what the one before it says as well.
      return (packagistVersions.parse(answer).packages[name] ?? []).map(each => {
        version = (each.version ?? version).replace(/^v(?=\d)/, '')
        at = each.time ?? at
        return { version, at }
      })
    },
  },
}

/** Maven Central keeps when it stored a file; of all versions its list says when the last came. */
async function fetchMavenDate(
  { name, version, isExact }: ReleaseQuestion,
  ask: AskRegistry,
): Promise<ReleaseDate | null> {
  const [group = '', artifact = ''] = name.split(':').map(part => encodeURIComponent(part))
  const folder = `/maven2/${group.replaceAll('.', '/')}/${artifact}`
  if (isExact) {
    const exact = encodeURIComponent(version)
    const { lastModified } = await ask(`${folder}/${exact}/${artifact}-${exact}.pom`)
    return toReleaseDate(lastModified ?? '', 'name')
  }
  const { text } = await ask(`${folder}/maven-metadata.xml`)
  const [, year, month, day, hour, minute, second] =
    /<lastUpdated>\s*(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\s*<\/lastUpdated>/.exec(text) ?? []
  return toReleaseDate(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`, 'range')
}
