import type { Fetch, Registries, Release } from '../ports.ts'
import type { Ecosystem } from './addition.ts'
import { firstProxied, GO_SERVERS, type GoServers } from './go/go-index.ts'
import { READERS, type Registry } from './registry-readers.ts'
import { releaseHashes } from './release-hashes.ts'

export interface RegistryAccess {
  /** Of winnow, for the user agent. */
  version: string
  /** Where the registries are; the public ones unless given. */
  bases?: Partial<Record<Registry, string>>
  goServers?: GoServers
  timeoutMs?: number
  /** How the web is asked; directly unless given. */
  web?: Fetch
}

const TIMEOUT_MS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * What public registries say, each asked for what it publishes and for nothing else, under its own address. A date
 * counts only for files with the hashes of the lockfile: a name and a version may be another package elsewhere.
 */
export function publicRegistries(access: RegistryAccess): Registries {
  return {
    async publishedAt(release) {
      const version = exactVersion(release)
      const hashes = releaseHashes(release)
      if (version === null || hashes.length === 0) return null
      try {
        return await dateOf({ ...release, version }, hashes, access)
      } catch {
        // Not there, not reachable, not understood: all of it means that nobody could tell.
        return null
      }
    },
  }
}

async function dateOf(
  release: Release,
  hashes: readonly string[],
  access: RegistryAccess,
): Promise<string | null> {
  // For all that is asked about one release, however many requests that takes.
  const signal = AbortSignal.timeout(access.timeoutMs ?? TIMEOUT_MS)
  const textFrom = (url: string) => textAt(url, { ...access, signal })
  if (release.ecosystem === 'go') {
    const servers = access.goServers ?? GO_SERVERS
    const [hash = ''] = hashes
    return youngest([await firstProxied(release, hash, { servers, textAt: textFrom })])
  }
  const registry = registryOf(release.ecosystem)
  if (registry === null) return null
  const { base, path, published } = READERS[registry]
  const answer: unknown = JSON.parse(await textFrom(`${access.bases?.[registry] ?? base}${path(release)}`))
  const there = new Map(published(answer, release.version).map(({ hash, at }) => [hash, at]))
  return youngest(hashes.map(hash => there.get(hash) ?? null))
}

function registryOf(ecosystem: Ecosystem | (string & {})): Registry | null {
  return Object.hasOwn(READERS, ecosystem) ? (ecosystem as Registry) : null
}

const EXACT = /^\d[\w.+-]*$/
const GO_VERSION = /^v\d[\w.+-]*$/
const PINNED = /^(?:\[[^\]]*\] )?==(?<version>\d[\w.+-]*)(?: ;.*)?$/

/** A lockfile names one version, and so does a requirement that is pinned. */
function exactVersion({ ecosystem, version }: Release): string | null {
  const pinned = ecosystem === 'pypi' ? PINNED.exec(version)?.groups?.['version'] : undefined
  const meant = pinned ?? version
  const isExact = (ecosystem === 'go' ? GO_VERSION : EXACT).test(meant)
  return isExact && meant.length <= 100 ? meant : null
}

/** The last of the files that came to it; nothing where one of them is not there, or its date cannot be read. */
function youngest(dates: readonly (string | null)[]): string | null {
  const times = dates.map(date => Date.parse(date ?? ''))
  if (times.length === 0 || !times.every(Number.isFinite)) return null
  return new Date(Math.max(...times)).toISOString()
}

async function textAt(
  url: string,
  { version, web = fetch, signal }: Pick<RegistryAccess, 'version' | 'web'> & { signal: AbortSignal },
): Promise<string> {
  const headers = { accept: 'application/json', 'user-agent': `winnow/${version} (git-winnow on npm)` }
  const response = await web(url, { headers, redirect: 'error', signal })
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
