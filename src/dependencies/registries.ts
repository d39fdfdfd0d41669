import { z } from 'zod'
import type { Fetch, Registries, Release } from '../ports.ts'
import type { Ecosystem } from './addition.ts'

/** Those that write down themselves when something was published: a date that its author sets says nothing. */
export type Registry = 'npm' | 'cargo' | 'pypi' | 'rubygems'

interface Reader {
  base: string
  /** How lockfiles call this registry. Whatever else they name is asked by nobody: a branch chooses no address. */
  sources: readonly string[]
  path: (release: Release) => string
  /** The dates of all there is of this version. */
  dates: (answer: unknown, version: string) => string[]
}

const npmAnswer = z.object({ time: z.record(z.string(), z.string()) })
const crateAnswer = z.object({ version: z.object({ created_at: z.string() }) })
const pypiAnswer = z.object({ urls: z.array(z.object({ upload_time_iso_8601: z.string() })) })
const gemAnswer = z.array(z.object({ number: z.string(), platform: z.string(), created_at: z.string() }))

const READERS: Record<Registry, Reader> = {
  npm: {
    base: 'https://registry.npmjs.org',
    sources: ['registry', 'https://registry.npmjs.org/', 'https://registry.yarnpkg.com/'],
    path: ({ name }) => `/${encodeURIComponent(name)}`,
    dates: (answer, version) => {
      const { time } = npmAnswer.parse(answer)
      return Object.hasOwn(time, version) ? [time[version] ?? ''] : []
    },
  },
  cargo: {
    base: 'https://crates.io',
    sources: ['https://github.com/rust-lang/crates.io-index', 'sparse+https://index.crates.io/'],
    path: ({ name, version }) => `/api/v1/crates/${encodeURIComponent(name)}/${encodeURIComponent(version)}`,
    dates: answer => [crateAnswer.parse(answer).version.created_at],
  },
  pypi: {
    base: 'https://pypi.org',
    sources: ['registry', 'https://pypi.org/simple', 'https://pypi.org/simple/'],
    path: ({ name, version }) => `/pypi/${encodeURIComponent(name)}/${encodeURIComponent(version)}/json`,
    // A file may be added to an old version at any time, and is what would be installed.
    dates: answer => pypiAnswer.parse(answer).urls.map(each => each.upload_time_iso_8601),
  },
  rubygems: {
    base: 'https://rubygems.org',
    sources: ['https://rubygems.org', 'https://rubygems.org/'],
    path: ({ name }) => `/api/v1/versions/${encodeURIComponent(name)}.json`,
    dates: (answer, version) =>
      gemAnswer
        .parse(answer)
        .filter(({ number, platform }) => version === number || version === `${number}-${platform}`)
        .map(each => each.created_at),
  },
}

export interface RegistryAccess {
  /** Of winnow, for the user agent. */
  version: string
  /** Where the registries are; the public ones unless given. */
  bases?: Partial<Record<Registry, string>>
  timeoutMs?: number
  /** How the web is asked; directly unless given. */
  web?: Fetch
}

const TIMEOUT_MS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

/** What public registries say, each asked for what it publishes and for nothing else. */
export function publicRegistries(access: RegistryAccess): Registries {
  return {
    async publishedAt(release) {
      const reader = readerOf(release)
      const version = exactVersion(release)
      if (reader === null || version === null) return null
      const { registry, ...how } = reader
      const base = access.bases?.[registry] ?? how.base
      try {
        const url = `${base}${how.path({ ...release, version })}`
        return youngest(how.dates(JSON.parse(await textAt(url, access)), version))
      } catch {
        // Not there, not reachable, not understood: all of it means that nobody could tell.
        return null
      }
    },
  }
}

function readerOf({ ecosystem, source }: Release): (Reader & { registry: Registry }) | null {
  const registry = registryOf(ecosystem)
  if (registry === null) return null
  const reader = READERS[registry]
  return reader.sources.includes(source.replace(/, installed as .*$/, '')) ? { ...reader, registry } : null
}

function registryOf(ecosystem: Ecosystem | (string & {})): Registry | null {
  return Object.hasOwn(READERS, ecosystem) ? (ecosystem as Registry) : null
}

const EXACT = /^\d[\w.+-]*$/

/** A lockfile names one version; of manifests only a pinned requirement does. */
function exactVersion({ ecosystem, version, locked }: Release): string | null {
  const pinned = ecosystem === 'pypi' && !locked ? /^==(?!=)(.*)$/.exec(version)?.[1] : undefined
  const meant = locked ? version : pinned
  return meant !== undefined && meant.length <= 100 && EXACT.test(meant) ? meant : null
}

/** The last file that came to it; nothing where any of them cannot be read. */
function youngest(dates: readonly string[]): string | null {
  const times = dates.map(date => Date.parse(date))
  if (times.length === 0 || !times.every(Number.isFinite)) return null
  return new Date(Math.max(...times)).toISOString()
}

async function textAt(url: string, access: RegistryAccess): Promise<string> {
  const { version, timeoutMs = TIMEOUT_MS, web = fetch } = access
  const headers = { accept: 'application/json', 'user-agent': `winnow/${version} (git-winnow on npm)` }
  const response = await web(url, { headers, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) })
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
