import { describe, expect, it } from 'vitest'
import { publicRegistries } from '../../src/dependencies/registries.ts'
import type { Release } from '../../src/ports.ts'
import { NEVER, packageRegistry } from '../servers/package-registry.ts'

const LEFT_PAD: Release = {
  ecosystem: 'npm',
  name: 'left-pad',
  version: '1.3.0',
  source: 'https://registry.npmjs.org/',
  integrity: 'sha512-bGVmdA==',
  files: null,
}
const AT = '2018-04-09T01:10:45.796Z'
const LATER = '2026-01-01T00:00:00.000Z'
const [ONE, TWO] = ['1'.repeat(64), '2'.repeat(64)]

function packument(integrity: string | undefined = LEFT_PAD.integrity ?? '', at: string = AT) {
  return {
    time: { created: '2014-03-14T09:09:18.000Z', '1.3.0': at },
    versions: { '1.3.0': { dist: { integrity } } },
  }
}

async function asking(answers: Record<string, unknown>, timeoutMs = 5_000) {
  const registry = await packageRegistry(answers)
  const { url } = registry
  const bases = { npm: url, cargo: url, pypi: url, rubygems: url }
  const goServers = { sums: `${url}/sums`, proxy: `${url}/proxy`, index: `${url}/index` }
  return { registry, ...publicRegistries({ version: '0.0.0', bases, goServers, timeoutMs }) }
}

const MEMCHR: Release = {
  ecosystem: 'cargo',
  name: 'memchr',
  version: '2.5.0',
  source: 'https://github.com/rust-lang/crates.io-index',
  integrity: ONE,
  files: null,
}
const IDNA: Release = {
  ecosystem: 'pypi',
  name: 'idna',
  version: '3.7',
  source: 'registry',
  integrity: `sha256:${ONE}`,
  files: null,
}
const RAKE: Release = {
  ecosystem: 'rubygems',
  name: 'rake',
  version: '13.2.1',
  source: 'https://rubygems.org/',
  integrity: `sha256=${ONE}`,
  files: null,
}
const idna = {
  urls: [
    { upload_time_iso_8601: AT, digests: { sha256: ONE } },
    { upload_time_iso_8601: LATER, digests: { sha256: TWO } },
  ],
}
const memchr = { version: { created_at: '2022-04-30T12:00:00.000000+00:00', checksum: ONE } }
const rake = [
  { number: '13.2.0', platform: 'ruby', created_at: LATER, sha: ONE },
  { number: '13.2.1', platform: 'ruby', created_at: AT, sha: ONE },
  { number: '13.2.1', platform: 'java', created_at: LATER, sha: TWO },
]

it('is asked the way that the edge gave', async () => {
  const asked: string[] = []
  const web = async (url: string) => {
    asked.push(url)
    return new Response(JSON.stringify(packument()))
  }
  const { publishedAt } = publicRegistries({ version: '0.0.0', web })
  expect(await publishedAt(LEFT_PAD)).toBe(AT)
  expect(asked).toEqual(['https://registry.npmjs.org/left-pad'])
})

describe('when a release was published', () => {
  const cases: [Release, path: string, answer: unknown, at: string][] = [
    [LEFT_PAD, '/left-pad', packument(), AT],
    [{ ...LEFT_PAD, source: 'registry' }, '/left-pad', packument(), AT],
    [{ ...LEFT_PAD, source: 'https://npm.example.org/' }, '/left-pad', packument(), AT],
    [{ ...LEFT_PAD, integrity: 'sha1-bGVm sha512-bGVmdA== #6c65' }, '/left-pad', packument(), AT],
    [
      { ...LEFT_PAD, name: '@a/b', source: 'registry, installed as c' },
      '/%40a%2Fb',
      packument(undefined, '2018-04-09T03:10:45.796+02:00'),
      AT,
    ],
    [MEMCHR, '/api/v1/crates/memchr/2.5.0', memchr, '2022-04-30T12:00:00.000Z'],
    [IDNA, '/pypi/idna/3.7/json', idna, AT],
    [{ ...IDNA, source: 'pypi' }, '/pypi/idna/3.7/json', idna, AT],
    [{ ...IDNA, integrity: `sha256:${ONE} sha256:${TWO}` }, '/pypi/idna/3.7/json', idna, LATER],
    [
      { ...IDNA, integrity: '2 files, sha256:3', files: [`sha256:${ONE}`, `sha256:${TWO}`] },
      '/pypi/idna/3.7/json',
      idna,
      LATER,
    ],
    [{ ...IDNA, version: '[all] ==3.7 ; os_name == "nt"' }, '/pypi/idna/3.7/json', idna, AT],
    [RAKE, '/api/v1/versions/rake.json', rake, AT],
    [
      { ...RAKE, version: '13.2.1-java', integrity: `sha256=${TWO}` },
      '/api/v1/versions/rake.json',
      rake,
      LATER,
    ],
  ]

  it.each(cases)('%j is asked of its registry', async (release, path, answer, at) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toBe(at)
    expect(registry.asked).toEqual([path])
  })

  it.each<[string, Release, path: string, unknown]>([
    ['npm', LEFT_PAD, '/left-pad', packument('sha512-b3RoZXI=')],
    ['npm with two', { ...LEFT_PAD, integrity: 'sha512-bGVmdA== sha512-b3RoZXI=' }, '/left-pad', packument()],
    [
      'an npm that tells no hash',
      LEFT_PAD,
      '/left-pad',
      { ...packument(), versions: { '1.3.0': { dist: {} } } },
    ],
    ['cargo', { ...MEMCHR, integrity: TWO }, '/api/v1/crates/memchr/2.5.0', memchr],
    [
      'pypi with one file more',
      { ...IDNA, integrity: `sha256:${ONE} sha256:${'3'.repeat(64)}` },
      '/pypi/idna/3.7/json',
      idna,
    ],
    [
      'pypi with one file more in a list',
      { ...IDNA, files: [`sha256:${ONE}`, `sha256:${'3'.repeat(64)}`] },
      '/pypi/idna/3.7/json',
      idna,
    ],
    ['rubygems', { ...RAKE, integrity: `sha256=${'3'.repeat(64)}` }, '/api/v1/versions/rake.json', rake],
  ])(
    'is unknown where the public package is another of the same name: %s',
    async (_, release, path, answer) => {
      const { registry, publishedAt } = await asking({ [path]: answer })
      expect(await publishedAt(release)).toBeNull()
      expect(registry.asked).toEqual([path])
    },
  )

  it.each<[string, unknown]>([
    ['not there', undefined],
    ['of another form', { time: 'yesterday' }],
    ['no JSON', '<html>'],
    ['without this version', { time: { '1.2.0': AT }, versions: {} }],
    ['no date', packument(undefined, 'soon')],
    ['somewhere else', '/elsewhere'],
  ])('is unknown where the answer is %s', async (_, answer) => {
    const { registry, publishedAt } = await asking({ '/left-pad': answer, '/elsewhere': packument() })
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    expect(registry.asked).toEqual(['/left-pad'])
  })

  it('is unknown where no answer comes, or nobody is there', async () => {
    const { publishedAt } = await asking({ '/left-pad': NEVER }, 50)
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    const gone = publicRegistries({ version: '0.0.0', bases: { npm: 'http://127.0.0.1:1' } })
    expect(await gone.publishedAt(LEFT_PAD)).toBeNull()
  })

  it.each<[Partial<Release>]>([
    [{ source: 'git https://github.com/a/b#c' }],
    [{ source: 'git+https://github.com/a/b' }],
    [{ source: 'bundled' }],
    [{ source: 'bundled or https://registry.npmjs.org/' }],
    [{ source: 'path ../left-pad' }],
    [{ version: '^1.3.0' }],
    [{ version: '../../x' }],
    [{ version: '1.3.0?x' }],
    // Nothing that the registry has as well: none, too weak, or of the installer's own making.
    [{ integrity: null }],
    [{ integrity: 'sha1-bGVm' }],
    [{ integrity: '#6c656674' }],
    [{ integrity: 'sha512-bGVmdA== md5-bGVm' }],
    [{ integrity: '10c0/6c656674' }],
    [{ ecosystem: 'cargo', integrity: null }],
    [{ ecosystem: 'pypi', integrity: `sha512:${ONE}${ONE}` }],
    [{ ecosystem: 'pypi', integrity: '2 files, sha256:3' }],
    [{ ecosystem: 'nuget', source: 'registry', integrity: 'bGVmdA==' }],
    [{ ecosystem: 'packagist', integrity: '0123, entry sha256:4' }],
    [{ ecosystem: 'maven', name: 'a:b', source: 'registry', integrity: null }],
    [{ ecosystem: '__proto__' }],
  ])('is asked of nobody with %j', async change => {
    const { registry, publishedAt } = await asking({})
    expect(await publishedAt({ ...LEFT_PAD, ...change })).toBeNull()
    expect(registry.asked).toEqual([])
  })
})
