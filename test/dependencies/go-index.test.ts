import { describe, expect, it } from 'vitest'
import { createPublicRegistries } from '../../src/dependencies/registries.ts'
import type { Release } from '../../src/ports.ts'
import { packageRegistry } from '../servers/package-registry.ts'

const MODULE: Release = {
  ecosystem: 'go',
  name: 'github.com/Acme/sum',
  version: 'v1.4.0',
  source: 'registry',
  integrity: 'h1:c3Vt=',
  files: null,
}
const SUMS = '/sums/lookup/github.com/!acme/sum@v1.4.0'
const INFO = '/proxy/github.com/!acme/sum/@v/v1.4.0.info'
const COMMITTED = '2026-03-01T10:00:00Z'
const TAKEN = '2026-03-01T11:00:00.5Z'
const RECORD = `7\n${MODULE.name} v1.4.0 h1:c3Vt=\n${MODULE.name} v1.4.0/go.mod h1:bW9k=\n\ngo.sum database tree\n9\n`

function page(since: string): string {
  return `/index/index?since=${encodeURIComponent(since)}&limit=2000`
}

function lines(...entries: [path: string, version: string, at: string][]): string {
  return entries.map(([Path, Version, Timestamp]) => JSON.stringify({ Path, Version, Timestamp })).join('\n')
}

/** So many others that were taken in before it, the last of them at this time. */
function others(count: number, until: string): [string, string, string][] {
  return Array.from({ length: count }, (_, at) => [`example.org/m${at}`, 'v1.0.0', until])
}

const ANSWERS = {
  [SUMS]: RECORD,
  [INFO]: { Version: 'v1.4.0', Time: COMMITTED },
  [page(COMMITTED)]: lines(
    ...others(3, COMMITTED),
    [MODULE.name, 'v1.3.0', COMMITTED],
    [MODULE.name, 'v1.4.0', TAKEN],
  ),
}

async function asking(answers: Record<string, unknown>, release: Partial<Release> = {}) {
  const { url, asked } = await packageRegistry(answers)
  const goServers = { sums: `${url}/sums`, proxy: `${url}/proxy`, index: `${url}/index` }
  const found = await createPublicRegistries({ goServers }).publishedAt({
    ...MODULE,
    ...release,
  })
  const at = found?.at ?? null
  return { at, by: found?.by ?? null, asked }
}

describe('when a version of a Go module was published', () => {
  it.each(['h1:c3Vt=', 'go.mod h1:bW9k='])(
    'is when the proxy stored it, if the checksum database has %s',
    async integrity => {
      const { at, asked } = await asking(ANSWERS, { integrity })
      expect(at).toBe('2026-03-01T11:00:00.500Z')
      expect(asked).toEqual([SUMS, INFO, page(COMMITTED)])
    },
  )

  it('is searched on a few following pages', async () => {
    const next = '2026-03-01T10:30:00Z'
    const pages = {
      [page(COMMITTED)]: lines(...others(2_000, next)),
      [page(next)]: lines(...others(1, next), [MODULE.name, 'v1.4.0', TAKEN]),
    }
    expect((await asking({ ...ANSWERS, ...pages })).at).toBe('2026-03-01T11:00:00.500Z')
  })

  it('is not the time of its commit, which its author sets', async () => {
    // Dated back by years: what the proxy took in then is not it, and nobody reads on for ever.
    const long = '2020-01-01T00:00:00Z'
    const pages = Array.from({ length: 9 }, (_, at) => {
      const [from, to] = [at, at + 1].map(hour => (hour === 0 ? long : `2020-01-01T0${hour}:00:00Z`))
      return [page(from ?? ''), lines(...others(2_000, to ?? ''))] as const
    })
    const found = await asking({ ...ANSWERS, [INFO]: { Time: long }, ...Object.fromEntries(pages) })
    expect(found.at).toBeNull()
    expect(found.asked).toHaveLength(2 + 4)
    expect((await asking({ ...ANSWERS, [page(COMMITTED)]: '' })).at).toBeNull()
  })

  it.each<[string, Partial<Release>, Record<string, unknown>]>([
    ['another hash than the database has', { integrity: 'h1:ZXZpbA==' }, {}],
    ['the hash of its go.mod for its files', { integrity: 'h1:bW9k=' }, {}],
    ['no place in the database', {}, { [SUMS]: undefined }],
  ])('is unknown with %s, and no further request is made', async (_, release, change) => {
    const { at, asked } = await asking({ ...ANSWERS, ...change }, release)
    expect(at).toBeNull()
    expect(asked).toEqual([SUMS])
  })

  it.each<[string, Record<string, unknown>]>([
    ['an index that is not there', { [page(COMMITTED)]: undefined }],
    ['an index of another form', { [page(COMMITTED)]: '{"Path":1}' }],
    ['a commit without a time', { [INFO]: { Version: 'v1.4.0' } }],
  ])('is unknown with %s', async (_, change) => {
    expect((await asking({ ...ANSWERS, ...change })).at).toBeNull()
  })

  it.each(['registry', 'registry, in place of example.org/old'])(
    'is found by name and version without a hash: from %s',
    async source => {
      expect(await asking(ANSWERS, { integrity: null, source })).toEqual({
        at: '2026-03-01T11:00:00.500Z',
        by: 'name',
        asked: [INFO, page(COMMITTED)],
      })
      const vain = await asking({}, { integrity: null, source })
      expect([vain.at, vain.asked]).toEqual([null, [INFO]])
    },
  )

  it('is asked only for a version', async () => {
    expect((await asking(ANSWERS, { version: 'main' })).asked).toEqual([])
  })
})
