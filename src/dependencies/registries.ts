import { z } from 'zod'
import type { Fetch, Registries, Release, ReleaseDate } from '../ports.ts'
import { VERSION } from '../version.ts'
import type { Ecosystem } from './package.ts'
import {
  findDateByName,
  getLatestDate,
  NAME_REGISTRIES,
  type NameRegistry,
  type RegistryAnswer,
} from './release-dates.ts'

interface RegistryAccess {
  /** Addresses of registries. Defaults to the public ones. */
  bases?: Partial<Record<NameRegistry, string>>
  goServers?: GoServers
  timeoutMs?: number
  /** Defaults to direct access to the web. */
  web?: Fetch
}

const TIMEOUT_MS = 10_000
const MOST_BYTES = 64 * 1024 * 1024

/**
 * Asks each public registry only for packages that it publishes. If a lockfile has hashes that the registry
 * publishes too, a date counts only for files with these hashes, because the same name and version may be
 * another package elsewhere. Without such hashes the date is found by name, and is marked so.
 */
export function createPublicRegistries(access: RegistryAccess): Registries {
  return {
    async publishedAt(release) {
      const question = findDateLookup(release)
      if (question === null) return undefined
      try {
        return await question({ ...access, signal: AbortSignal.timeout(access.timeoutMs ?? TIMEOUT_MS) })
      } catch {
        // The release is missing, or the registry is unreachable or unreadable.
        return null
      }
    },
  }
}

type RegistryRequest = RegistryAccess & { signal: AbortSignal }
type DateLookup = (request: RegistryRequest) => Promise<ReleaseDate | null>

/**
 * Null: no public registry knows the date, because of another source or of hashes that it does not publish.
 */
function findDateLookup(release: Release): DateLookup | null {
  const { ecosystem, name } = release
  const plain = release.version
    .replace(/ \([^()]*\)$/, '')
    .replace(/ ;.*$/, '')
    .replace(/^\[[^\]]*\] (?=[=<>~!])/, '')
  const exact = getExactVersion(ecosystem, plain)
  const hashes = listReleaseHashes(release)
  if (exact !== null && hashes.length > 0)
    return request => fetchHashDate({ ecosystem, name, version: exact }, hashes, request)
  if (!isOnlyNamed(release)) return null
  if (ecosystem === 'go')
    return exact === null ? null : request => fetchGoDate({ name, version: exact }, null, request)
  if (!isNameRegistry(ecosystem)) return null
  const isExact = exact !== null && isOneVersion(release, plain)
  return request =>
    findDateByName(ecosystem, { name, version: exact ?? plain, isExact }, path =>
      fetchAnswer(`${request.bases?.[ecosystem] ?? NAME_REGISTRIES[ecosystem]}${path}`, request),
    )
}

function isNameRegistry(ecosystem: string): ecosystem is NameRegistry {
  return Object.hasOwn(NAME_REGISTRIES, ecosystem)
}

const BERRY_CHECKSUM = /^(?:\w+\/)?[\da-f]{128}$/
const ARCHIVE_OR_REPOSITORY = /^(?:zip|tar|git) https:\/\//

/**
 * A package from a registry, without a hash that can be compared with what the registry publishes. Manifests
 * have no hashes. Those of yarn berry, NuGet, Composer and Maven cover other bytes.
 */
function isOnlyNamed({ ecosystem, source, integrity }: Release): boolean {
  if (ecosystem === 'packagist') return source === 'registry' || ARCHIVE_OR_REPOSITORY.test(source)
  if (!isFetched(ecosystem, source)) return false
  if (integrity === null || ecosystem === 'nuget' || ecosystem === 'maven') return true
  return ecosystem === 'npm' && BERRY_CHECKSUM.test(integrity)
}

/** A bare version in Cargo.toml also allows compatible versions. */
function isOneVersion({ ecosystem, integrity }: Release, version: string): boolean {
  return integrity !== null || ecosystem !== 'cargo' || version.startsWith('=')
}

async function fetchHashDate(
  release: Pick<Release, 'ecosystem' | 'name' | 'version'>,
  hashes: readonly string[],
  access: RegistryRequest,
): Promise<ReleaseDate | null> {
  const { ecosystem, version } = release
  if (ecosystem === 'go') return fetchGoDate(release, hashes[0] ?? '', access)
  if (!isHashRegistry(ecosystem)) return null
  const { path, published } = READERS[ecosystem]
  const base = access.bases?.[ecosystem] ?? NAME_REGISTRIES[ecosystem]
  const answer: unknown = JSON.parse((await fetchAnswer(`${base}${path(release)}`, access)).text)
  const dates = new Map(published(answer, version).map(({ hash, at }) => [hash, at]))
  return getLatestDate(
    hashes.map(hash => dates.get(hash) ?? ''),
    'hash',
  )
}

function isHashRegistry(ecosystem: string): ecosystem is HashRegistry {
  return Object.hasOwn(READERS, ecosystem)
}

const EXACT = /^v?\d[\w.+-]*$/
const GO_VERSION = /^v\d[\w.+-]*$/
const PINNED = /^(?:\[[^\]]*\] )?==(?<version>\d[\w.+-]*)(?: ;.*)?$/

/** A lockfile names one version, and so does a pinned requirement. */
function getExactVersion(ecosystem: string, version: string): string | null {
  const pinned = ecosystem === 'pypi' ? PINNED.exec(version)?.groups?.['version'] : undefined
  const candidate = pinned ?? version
  const isExact = (ecosystem === 'go' ? GO_VERSION : EXACT).test(candidate) && !/\.[x*]$/i.test(candidate)
  return isExact && candidate.length <= 100 ? candidate : null
}

async function fetchAnswer(
  url: string,
  { web = fetch, signal }: Pick<RegistryRequest, 'web' | 'signal'>,
): Promise<RegistryAnswer> {
  const headers = {
    accept: 'application/json, */*;q=0.5',
    'user-agent': `winnow/${VERSION} (git-winnow on npm)`,
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

// Registries that publish hashes

/** Registries that return hashes and upload times in one answer. Dates that an author sets do not count. */
type HashRegistry = 'npm' | 'cargo' | 'pypi' | 'rubygems'

interface HashRegistryReader {
  path: (release: Pick<Release, 'name' | 'version'>) => string
  /** The files of a release. Their hashes have the format of the lockfile. */
  published: (answer: unknown, version: string) => { hash: string; at: string }[]
}

const npmAnswer = z.object({
  time: z.record(z.string(), z.string()),
  versions: z.record(
    z.string(),
    z.looseObject({ dist: z.looseObject({ integrity: z.string().optional() }) }),
  ),
})
const crateAnswer = z.object({ version: z.object({ created_at: z.string(), checksum: z.string() }) })
const pypiAnswer = z.object({
  urls: z.array(z.object({ upload_time_iso_8601: z.string(), digests: z.object({ sha256: z.string() }) })),
})
const gemAnswer = z.array(
  z.object({ number: z.string(), platform: z.string(), created_at: z.string(), sha: z.string().nullish() }),
)

const READERS: Record<HashRegistry, HashRegistryReader> = {
  npm: {
    path: ({ name }) => `/${encodeURIComponent(name)}`,
    published: (answer, version) => {
      const { time, versions } = npmAnswer.parse(answer)
      if (!Object.hasOwn(time, version) || !Object.hasOwn(versions, version)) return []
      return [{ hash: versions[version]?.dist.integrity ?? '', at: time[version] ?? '' }]
    },
  },
  cargo: {
    path: ({ name, version }) => `/api/v1/crates/${encodeURIComponent(name)}/${encodeURIComponent(version)}`,
    published: answer => {
      const { created_at: at, checksum: hash } = crateAnswer.parse(answer).version
      return [{ hash, at }]
    },
  },
  pypi: {
    path: ({ name, version }) => `/pypi/${encodeURIComponent(name)}/${encodeURIComponent(version)}/json`,
    published: answer =>
      pypiAnswer.parse(answer).urls.map(({ upload_time_iso_8601: at, digests }) => {
        return { hash: `sha256:${digests.sha256}`, at }
      }),
  },
  rubygems: {
    path: ({ name }) => `/api/v1/versions/${encodeURIComponent(name)}.json`,
    published: (answer, version) =>
      gemAnswer
        .parse(answer)
        .filter(({ number, platform }) => version === number || version === `${number}-${platform}`)
        .map(({ sha, created_at: at }) => ({ hash: `sha256=${sha ?? ''}`, at })),
  },
}

// Hashes in lockfiles

/**
 * Formats of the hashes by which installers check files. Weaker hashes, and formats of a tool's own, do not
 * count.
 */
const HASHES: Partial<Record<Ecosystem, RegExp>> = {
  npm: /^sha512-[A-Za-z\d+/]+=*$/,
  cargo: /^[\da-f]{64}$/,
  pypi: /^sha256:[\da-f]{64}$/,
  rubygems: /^sha256=[\da-f]{64}$/,
  go: /^(?:go\.mod )?h1:[A-Za-z\d+/]+=*$/,
}

/** An SRI text may list weaker hashes too. After # yarn repeats the hash of the file. */
const BESIDE_IN_NPM = /^(?:sha(?:1|256|384)-[A-Za-z\d+/]+=*|#[\da-f]+)$/

/**
 * Installers verify files from these sources before they use them. Sources of git, paths and bundles are not
 * verified this way.
 */
const FETCHED = /^(?:registry|(?:sparse\+)?https?:\/\/\S+)$/
const INDEX_NAME = /^[\w-]+$/

/**
 * Lists the hashes of all files that may be installed. Empty if the lockfile has no hash that a registry
 * publishes too: a package of the same name could not be told apart then.
 */
function listReleaseHashes({ ecosystem, source, integrity, files }: Release): readonly string[] {
  const hash = Object.hasOwn(HASHES, ecosystem) ? HASHES[ecosystem as Ecosystem] : undefined
  if (hash === undefined || integrity === null || !isFetched(ecosystem, source)) return []
  if (ecosystem === 'go') return hash.test(integrity) ? [integrity] : []
  const written = files ?? integrity.split(/[\s,]+/)
  const relevant = ecosystem === 'npm' ? written.filter(each => !BESIDE_IN_NPM.test(each)) : written
  return relevant.every(each => hash.test(each)) ? relevant : []
}

function isFetched(ecosystem: string, source: string): boolean {
  const place = source.replace(/, (?:installed as|in place of) .*$/, '')
  // Pipenv uses the name that the Pipfile gives the index.
  return FETCHED.test(place) || (ecosystem === 'pypi' && INDEX_NAME.test(place))
}

// Go

/** Addresses of Go's checksum database, module proxy and proxy index. */
interface GoServers {
  sums: string
  proxy: string
  index: string
}

const GO_SERVERS: GoServers = {
  sums: 'https://sum.golang.org',
  proxy: 'https://proxy.golang.org',
  index: 'https://index.golang.org',
}

const infoAnswer = z.object({ Time: z.iso.datetime({ offset: true }) })
const indexLine = z.object({ Path: z.string(), Version: z.string(), Timestamp: z.iso.datetime() })
const PAGE = 2_000
const MOST_PAGES = 4

/**
 * Finds when the proxy first stored this version. The index of the proxy lists versions in the order of
 * arrival. The author sets the time of the commit, so it serves only as the start of the search; a wrong one
 * finds no version. A go.mod has no hash (null), so the checksum database has no entry to compare.
 */
async function fetchGoDate(
  { name, version }: Pick<Release, 'name' | 'version'>,
  hash: string | null,
  access: RegistryRequest,
): Promise<ReleaseDate | null> {
  const servers = access.goServers ?? GO_SERVERS
  const textAt = async (url: string) => (await fetchAnswer(url, access)).text
  const [path, exact] = [escapeGoPath(name), escapeGoPath(version)]
  if (hash !== null) {
    const sums = await textAt(`${servers.sums}/lookup/${path}@${exact}`)
    if (!sums.split('\n').includes(formatSumLine({ name, version }, hash))) return null
  }
  const info = infoAnswer.parse(JSON.parse(await textAt(`${servers.proxy}/${path}/@v/${exact}.info`)))
  let since = info.Time
  for (let page = 0; page < MOST_PAGES; page++) {
    const text = await textAt(`${servers.index}/index?since=${encodeURIComponent(since)}&limit=${PAGE}`)
    const written = text.split('\n').filter(line => line !== '')
    const lines = written.map(line => indexLine.parse(JSON.parse(line)))
    const found = lines.find(({ Path, Version }) => Path === name && Version === version)
    if (found !== undefined) return getLatestDate([found.Timestamp], hash === null ? 'name' : 'hash')
    const last = lines.at(-1)?.Timestamp
    if (last === undefined || last === since || lines.length < PAGE) return null
    since = last
  }
  return null
}

/** The format of go.sum and of the checksum database. */
function formatSumLine({ name, version }: Pick<Release, 'name' | 'version'>, hash: string): string {
  const sum = /^go\.mod (.*)$/.exec(hash)?.[1]
  return sum === undefined ? `${name} ${version} ${hash}` : `${name} ${version}/go.mod ${sum}`
}

/** Go's servers escape capitals, because some file systems ignore case. */
function escapeGoPath(text: string): string {
  const small = text.replace(/[A-Z]/g, letter => `!${letter.toLowerCase()}`)
  return small
    .split('/')
    .map(part => encodeURIComponent(part).replaceAll('%2B', '+'))
    .join('/')
}
