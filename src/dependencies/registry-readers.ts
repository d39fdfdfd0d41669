import { z } from 'zod'
import type { Release } from '../ports.ts'

/** A file of a release as its registry has it, by the hash that a lockfile would write. */
export interface PublishedFile {
  hash: string
  at: string
}

export interface HashRegistryReader {
  base: string
  path: (release: Pick<Release, 'name' | 'version'>) => string
  /** All that there is of this version. */
  published: (answer: unknown, version: string) => PublishedFile[]
}

/** Those that tell in one answer what each file is and when they took it: a date that its author sets says nothing. */
export type Registry = 'npm' | 'cargo' | 'pypi' | 'rubygems'

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

export const READERS: Record<Registry, HashRegistryReader> = {
  npm: {
    base: 'https://registry.npmjs.org',
    path: ({ name }) => `/${encodeURIComponent(name)}`,
    published: (answer, version) => {
      const { time, versions } = npmAnswer.parse(answer)
      if (!Object.hasOwn(time, version) || !Object.hasOwn(versions, version)) return []
      return [{ hash: versions[version]?.dist.integrity ?? '', at: time[version] ?? '' }]
    },
  },
  cargo: {
    base: 'https://crates.io',
    path: ({ name, version }) => `/api/v1/crates/${encodeURIComponent(name)}/${encodeURIComponent(version)}`,
    published: answer => {
      const { created_at: at, checksum: hash } = crateAnswer.parse(answer).version
      return [{ hash, at }]
    },
  },
  pypi: {
    base: 'https://pypi.org',
    path: ({ name, version }) => `/pypi/${encodeURIComponent(name)}/${encodeURIComponent(version)}/json`,
    published: answer =>
      pypiAnswer.parse(answer).urls.map(({ upload_time_iso_8601: at, digests }) => {
        return { hash: `sha256:${digests.sha256}`, at }
      }),
  },
  rubygems: {
    base: 'https://rubygems.org',
    path: ({ name }) => `/api/v1/versions/${encodeURIComponent(name)}.json`,
    published: (answer, version) =>
      gemAnswer
        .parse(answer)
        .filter(({ number, platform }) => version === number || version === `${number}-${platform}`)
        .map(({ sha, created_at: at }) => ({ hash: `sha256=${sha ?? ''}`, at })),
  },
}
