import type { Fetch, Registries, Release, ReleaseDate } from '../ports.ts'
import type { Ecosystem } from './addition.ts'
import { fetchProxyDate, GO_SERVERS, type GoServers } from './go/go-index.ts'
import { READERS, type Registry } from './registry-readers.ts'
import { isFetched, listReleaseHashes } from './release-hashes.ts'
import type { RegistryAnswer } from './release-date.ts'
import { findDateByName, NAME_REGISTRIES, type NameRegistry } from './releases-by-name.ts'

export interface RegistryAccess {
  /** Of winnow, for the user agent. */
  version: string
  /** Where the registries are; the public ones unless given. */
  bases?: Partial<Record<NameRegistry, string>>
  goServers?: GoServers
  timeoutMs?: number
  /** How the web is asked; directly unless given. */
  web?: Fetch
}

const TIMEOUT_MS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * What public registries say, each asked for what it publishes and for nothing else, under its own address. Where a
 * lockfile has hashes that its registry publishes as well, a date counts only for files with these hashes: a name and a
 * version may be another package elsewhere. Where there are none, the date is by name, and says so.
 */
export function createPublicRegistries(access: RegistryAccess): Registries {
  return {
    async publishedAt(release) {
      const question = findDateLookup(release)
      if (question === null) return undefined
      try {
        return await question({ ...access, signal: AbortSignal.timeout(access.timeoutMs ?? TIMEOUT_MS) })
      } catch {
        // Not there, not reachable, not understood: the registry was asked in vain.
        return null
      }
    },
  }
}

type RegistryRequest = RegistryAccess & { signal: AbortSignal }
type DateLookup = (asking: RegistryRequest) => Promise<ReleaseDate | null>

/** Null where no public registry can tell: another source, or hashes that it does not publish. */
function findDateLookup(release: Release): DateLookup | null {
  const { ecosystem } = release
  const plain = release.version
    .replace(/ \([^()]*\)$/, '')
    .replace(/ ;.*$/, '')
    .replace(/^\[[^\]]*\] (?=[=<>~!])/, '')
  const exact = getExactVersion({ ecosystem, version: plain })
  const hashes = listReleaseHashes(release)
  if (exact !== null && hashes.length > 0)
    return async asking => withHash(await fetchHashDate({ ...release, version: exact }, hashes, asking))
  if (!isOnlyNamed(release)) return null
  if (ecosystem === 'go') {
    if (exact === null) return null
    return async asking => toNamedDate(await fetchGoDate({ ...release, version: exact }, null, asking))
  }
  if (!isNameRegistry(ecosystem)) return null
  const isExact = exact !== null && isOneVersion(release, plain)
  const version = exact ?? plain
  return asking =>
    findDateByName(ecosystem, { name: release.name, version, isExact }, path =>
      fetchAnswer(`${asking.bases?.[ecosystem] ?? NAME_REGISTRIES[ecosystem]}${path}`, asking),
    )
}

function withHash(at: string | null): ReleaseDate | null {
  return at === null ? null : { at, by: 'hash' }
}

function toNamedDate(at: string | null): ReleaseDate | null {
  return at === null ? null : { at, by: 'name' }
}

function isNameRegistry(ecosystem: string): ecosystem is NameRegistry {
  return Object.hasOwn(NAME_REGISTRIES, ecosystem)
}

const BERRY_CHECKSUM = /^(?:\w+\/)?[\da-f]{128}$/
const ARCHIVE_OR_REPOSITORY = /^(?:zip|tar|git) https:\/\//

/**
 * Of a registry, and with no hash that could be compared with what the registry publishes: manifests have none, and
 * those of yarn berry, NuGet, Composer and Maven are of other bytes.
 */
function isOnlyNamed({ ecosystem, source, integrity }: Release): boolean {
  if (ecosystem === 'packagist') return source === 'registry' || ARCHIVE_OR_REPOSITORY.test(source)
  if (!isFetched(ecosystem, source)) return false
  if (integrity === null || ecosystem === 'nuget' || ecosystem === 'maven') return true
  return ecosystem === 'npm' && BERRY_CHECKSUM.test(integrity)
}

/** Where a bare number in a manifest means "this or a compatible one". */
const COMPATIBLE: ReadonlySet<string> = new Set(['cargo'])

function isOneVersion({ ecosystem, integrity }: Release, version: string): boolean {
  return integrity !== null || !COMPATIBLE.has(ecosystem) || version.startsWith('=')
}

async function fetchHashDate(
  release: Release,
  hashes: readonly string[],
  access: RegistryRequest,
): Promise<string | null> {
  const textFrom = async (url: string) => (await fetchAnswer(url, access)).text
  if (release.ecosystem === 'go') return fetchGoDate(release, hashes[0] ?? '', access)
  const registry = findHashRegistry(release.ecosystem)
  if (registry === null) return null
  const { base, path, published } = READERS[registry]
  const answer: unknown = JSON.parse(await textFrom(`${access.bases?.[registry] ?? base}${path(release)}`))
  const there = new Map(published(answer, release.version).map(({ hash, at }) => [hash, at]))
  return getLatestTime(hashes.map(hash => there.get(hash) ?? null))
}

async function fetchGoDate(
  release: Release,
  hash: string | null,
  access: RegistryRequest,
): Promise<string | null> {
  const servers = access.goServers ?? GO_SERVERS
  const textAt = async (url: string) => (await fetchAnswer(url, access)).text
  return getLatestTime([await fetchProxyDate(release, hash, { servers, textAt })])
}

function findHashRegistry(ecosystem: Ecosystem | (string & {})): Registry | null {
  return Object.hasOwn(READERS, ecosystem) ? (ecosystem as Registry) : null
}

const EXACT = /^v?\d[\w.+-]*$/
const GO_VERSION = /^v\d[\w.+-]*$/
const PINNED = /^(?:\[[^\]]*\] )?==(?<version>\d[\w.+-]*)(?: ;.*)?$/

/** A lockfile names one version, and so does a requirement that is pinned. */
function getExactVersion({ ecosystem, version }: Pick<Release, 'ecosystem' | 'version'>): string | null {
  const pinned = ecosystem === 'pypi' ? PINNED.exec(version)?.groups?.['version'] : undefined
  const meant = pinned ?? version
  const isExact = (ecosystem === 'go' ? GO_VERSION : EXACT).test(meant) && !/\.[x*]$/i.test(meant)
  return isExact && meant.length <= 100 ? meant : null
}

/** The last of the files that came to it; nothing where one of them is not there, or its date cannot be read. */
function getLatestTime(dates: readonly (string | null)[]): string | null {
  const times = dates.map(date => Date.parse(date ?? ''))
  if (times.length === 0 || !times.every(Number.isFinite)) return null
  return new Date(Math.max(...times)).toISOString()
}

async function fetchAnswer(
  url: string,
  { version, web = fetch, signal }: Pick<RegistryRequest, 'version' | 'web' | 'signal'>,
): Promise<RegistryAnswer> {
  const headers = {
    accept: 'application/json, */*;q=0.5',
    'user-agent': `winnow/${version} (git-winnow on npm)`,
  }
  const response = await web(url, { headers, redirect: 'error', signal })
  if (response.status !== 200 || response.body === null) throw new Error(`${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error('too large')
    chunks.push(chunk)
  }
  return { text: Buffer.concat(chunks).toString('utf8'), lastModified: response.headers.get('last-modified') }
}
