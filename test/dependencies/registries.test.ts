import { describe, expect, it } from 'vitest'
import { createPublicRegistries } from '../../src/dependencies/registries.ts'
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
  const bases = { npm: url, cargo: url, pypi: url, rubygems: url, packagist: url, nuget: url, maven: url }
  const goServers = { sums: `${url}/sums`, proxy: `${url}/proxy`, index: `${url}/index` }
  return { registry, ...createPublicRegistries({ bases, goServers, timeoutMs }) }
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

it('uses the given fetch function', async () => {
  const asked: string[] = []
  const web = async (url: string) => {
    asked.push(url)
    return new Response(JSON.stringify(packument()))
  }
  const { publishedAt } = createPublicRegistries({ web })
  expect(await publishedAt(LEFT_PAD)).toEqual({ at: AT, by: 'hash' })
  expect(asked).toEqual(['https://registry.npmjs.org/left-pad'])
})

describe('the date of a release by its hash', () => {
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

  it.each(cases)('of %j comes from its registry', async (release, path, answer, at) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toEqual({ at, by: 'hash' })
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
  ])('is unknown if the public package has another hash: %s', async (_, release, path, answer) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toBeNull()
    expect(registry.asked).toEqual([path])
  })

  it.each<[string, unknown]>([
    ['not there', undefined],
    ['of another form', { time: 'yesterday' }],
    ['no JSON', '<html>'],
    ['without this version', { time: { '1.2.0': AT }, versions: {} }],
    ['no date', packument(undefined, 'soon')],
    ['somewhere else', '/elsewhere'],
  ])('is unknown if the answer is %s', async (_, answer) => {
    const { registry, publishedAt } = await asking({ '/left-pad': answer, '/elsewhere': packument() })
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    expect(registry.asked).toEqual(['/left-pad'])
  })

  it('is unknown without an answer', async () => {
    const { publishedAt } = await asking({ '/left-pad': NEVER }, 50)
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    const gone = createPublicRegistries({ bases: { npm: 'http://127.0.0.1:1' } })
    expect(await gone.publishedAt(LEFT_PAD)).toBeNull()
  })

  it.each<[Partial<Release>]>([
    [{ source: 'git https://github.com/a/b#c' }],
    [{ source: 'git+https://github.com/a/b' }],
    [{ source: 'bundled' }],
    [{ source: 'bundled or https://registry.npmjs.org/' }],
    [{ source: 'path ../left-pad' }],
    [{ version: '../../x' }],
    [{ version: '1.3.0?x' }],
    // Nothing that the registry has as well: none, too weak, or of the installer's own making.
    [{ integrity: 'sha1-bGVm' }],
    [{ integrity: '#6c656674' }],
    [{ integrity: 'sha512-bGVmdA== md5-bGVm' }],
    [{ ecosystem: 'pypi', integrity: `sha512:${ONE}${ONE}` }],
    [{ ecosystem: 'pypi', integrity: '2 files, sha256:3' }],
    [{ ecosystem: 'go', version: 'v1.2.3', source: 'path ../leaf', integrity: null }],
    [{ ecosystem: 'go', version: '*', integrity: null }],
    [{ ecosystem: 'packagist', source: 'path ../a', integrity: null }],
    [{ ecosystem: 'maven', name: 'a:b', source: 'path lib/a.jar', integrity: null }],
    [{ ecosystem: '__proto__' }],
  ])('sends no request with %j', async change => {
    const { registry, publishedAt } = await asking({})
    expect(await publishedAt({ ...LEFT_PAD, ...change })).toBeUndefined()
    expect(registry.asked).toEqual([])
  })
})

describe('the date of a release without a published hash', () => {
  const named = (
    ecosystem: string,
    name: string,
    version: string,
    change: Partial<Release> = {},
  ): Release => ({
    ecosystem,
    name,
    version,
    source: 'registry',
    integrity: null,
    files: null,
    ...change,
  })
  const OLD = '2018-01-01T00:00:00.000Z'
  const left = {
    time: { created: LATER, modified: LATER, '1.2.0': OLD, '1.3.0': AT, '2.0.0': LATER },
    versions: { '1.2.0': {}, '1.3.0': {}, '2.0.0': {} },
  }
  const flask = {
    releases: { '2.0': [{ upload_time_iso_8601: OLD }], '3.0': [{ upload_time_iso_8601: AT }], '3.1': [] },
  }
  const monolog = {
    packages: {
      'monolog/monolog': [
        { version: '3.0.0', time: '2018-04-09T01:10:45.796+00:00' },
        { version: 'v2.9.0', time: OLD },
      ],
    },
  }
  const nuget = { listed: true, published: '2018-04-09T01:10:45.796+00:00' }
  const ACME = '/v3/registration5-gz-semver2/acme.sum/index.json'
  const leaf = (version: string, published: string) => ({ catalogEntry: { version, published } })
  const someVersions = [leaf('1.2.0', OLD), leaf('1.3.0', AT), leaf('2.0.0', LATER)]
  const inOnePage = { items: [{ lower: '1.2.0', upper: '2.0.0', items: someVersions }] }
  const metadata = '<metadata><versioning><lastUpdated>20180409011045</lastUpdated></versioning></metadata>'

  type Case = [what: string, Release, path: string, answer: unknown, at: string, by: 'name' | 'range']
  it.each<Case>([
    ['npm, one version', named('npm', 'left-pad', '1.3.0'), '/left-pad', left, AT, 'name'],
    ['npm, a range', named('npm', 'left-pad', '^1.2.0'), '/left-pad', left, AT, 'range'],
    ['npm, any', named('npm', 'left-pad', '*'), '/left-pad', left, LATER, 'range'],
    ['npm, a tag', named('npm', 'left-pad', 'next'), '/left-pad', left, LATER, 'range'],
    [
      'yarn berry',
      named('npm', 'left-pad', '1.3.0', { integrity: `10c0/${'6'.repeat(128)}` }),
      '/left-pad',
      left,
      AT,
      'name',
    ],
    ['pypi, a range', named('pypi', 'flask', '>=2,<4'), '/pypi/flask/json', flask, AT, 'range'],
    ['pypi, pinned', named('pypi', 'flask', '==2.0'), '/pypi/flask/json', flask, OLD, 'name'],
    [
      'cargo',
      named('cargo', 'memchr', '2.5'),
      '/api/v1/crates/memchr',
      {
        versions: [
          { num: '2.5.1', created_at: AT },
          { num: '3.0.0', created_at: LATER },
        ],
      },
      AT,
      'range',
    ],
    [
      'cargo, a bare version, which newer compatible versions satisfy',
      named('cargo', 'memchr', '2.5.0'),
      '/api/v1/crates/memchr',
      {
        versions: [
          { num: '2.5.0', created_at: OLD },
          { num: '2.6.1', created_at: AT },
          { num: '3.0.0', created_at: LATER },
        ],
      },
      AT,
      'range',
    ],
    ['rubygems', named('rubygems', 'rake', '~> 13.2'), '/api/v1/versions/rake.json', rake, LATER, 'range'],
    [
      'packagist',
      named('packagist', 'monolog/monolog', '3.0.0', {
        source: 'zip https://a.example/b',
        integrity: '01, entry sha256:4',
      }),
      '/p2/monolog/monolog.json',
      monolog,
      AT,
      'name',
    ],
    [
      'packagist, a range',
      named('packagist', 'monolog/monolog', '^2.1'),
      '/p2/monolog/monolog.json',
      monolog,
      OLD,
      'range',
    ],
    [
      'packagist, where a tilde allows newer minor versions',
      named('packagist', 'monolog/monolog', '~2.1'),
      '/p2/monolog/monolog.json',
      monolog,
      OLD,
      'range',
    ],
    [
      'nuget',
      named('nuget', 'Newtonsoft.Json', '13.0.1', { integrity: 'bGVmdA==' }),
      '/v3/registration5-semver1/newtonsoft.json/13.0.1.json',
      nuget,
      AT,
      'name',
    ],
    [
      'nuget, exactly one in brackets',
      named('nuget', 'Newtonsoft.Json', '[13.0.1]'),
      '/v3/registration5-semver1/newtonsoft.json/13.0.1.json',
      nuget,
      AT,
      'name',
    ],
    ...(
      [
        ['[1.2, 2.0)', AT],
        ['[1.2,2.0]', LATER],
        ['(1.3,)', LATER],
        ['(,1.3)', OLD],
        ['1.*', AT],
        ['[1.*,2.0)', AT],
        ['*', LATER],
        ['1.2.0-*', LATER],
        ['[1.2,1.3] (PackageVersion)', AT],
        ['$(Acme)', LATER],
      ] as const
    ).map(
      ([range, at]): Case => [
        `nuget, ${range}`,
        named('nuget', 'Acme.Sum', range),
        ACME,
        inOnePage,
        at,
        'range',
      ],
    ),
    [
      'maven, a range',
      named('maven', 'org.a.b:core', '[1,2)'),
      '/maven2/org/a/b/core/maven-metadata.xml',
      metadata,
      '2018-04-09T01:10:45.000Z',
      'range',
    ],
  ])('is found by name: %s', async (_, release, path, answer, at, by) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toEqual({ at, by })
    expect(registry.asked).toEqual([path])
  })

  it('is found on all pages of a large NuGet package', async () => {
    const folder = '/v3/registration5-gz-semver2/acme.sum'
    const answers = {
      [ACME]: {
        items: [
          { lower: '1.2.0', upper: '1.2.0' },
          { lower: '1.3.0-RC', upper: '2.0.0' },
        ],
      },
      [`${folder}/page/1.2.0/1.2.0.json`]: { items: someVersions.slice(0, 1) },
      [`${folder}/page/1.3.0-rc/2.0.0.json`]: { items: someVersions.slice(1) },
    }
    const release = named('nuget', 'Acme.Sum', '[1.0,2.0)')
    expect(await (await asking(answers)).publishedAt(release)).toEqual({ at: AT, by: 'range' })
    const half = { ...answers, [`${folder}/page/1.2.0/1.2.0.json`]: undefined }
    expect(await (await asking(half)).publishedAt(release)).toBeNull()
  })

  it('is the time at which Maven Central stored the file', async () => {
    const asked: string[] = []
    const web = async (url: string) => {
      asked.push(url)
      return new Response('<project/>', { headers: { 'last-modified': 'Mon, 09 Apr 2018 01:10:45 GMT' } })
    }
    const { publishedAt } = createPublicRegistries({ web })
    const release = named('maven', 'org.a.b:core', '1.2 (scope test)')
    expect(await publishedAt(release)).toEqual({ at: '2018-04-09T01:10:45.000Z', by: 'name' })
    expect(asked).toEqual(['https://repo1.maven.org/maven2/org/a/b/core/1.2/core-1.2.pom'])
  })

  it.each<[string, Release, string, unknown]>([
    ['is not there', named('npm', 'left-pad', '9.9.9'), '/left-pad', left],
    [
      'is unlisted at nuget',
      named('nuget', 'a', '1.0.0'),
      '/v3/registration5-semver1/a/1.0.0.json',
      { published: '1900-01-01T00:00:00+00:00' },
    ],
    [
      'may come to one that is unlisted at nuget',
      named('nuget', 'Acme.Sum', '1.*'),
      ACME,
      {
        items: [
          { lower: '1.0', upper: '1.1', items: [leaf('1.0', OLD), leaf('1.1', '1900-01-01T00:00:00+00:00')] },
        ],
      },
    ],
    ['has no version in the range', named('nuget', 'Acme.Sum', '[7,8)'), ACME, inOnePage],
    ['has no date', named('maven', 'a:b', '1.0'), '/maven2/a/b/1.0/b-1.0.pom', '<project/>'],
    ['gets no answer', named('packagist', 'a/b', '1.0.0'), '/p2/a/b.json', undefined],
  ])('is unknown if the version %s', async (_, release, path, answer) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toBeNull()
    expect(registry.asked).toEqual([path])
  })
})
