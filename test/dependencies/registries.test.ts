import { describe, expect, it } from 'vitest'
import { publicRegistries } from '../../src/dependencies/registries.ts'
import type { Release } from '../../src/ports.ts'
import { NEVER, packageRegistry } from '../servers/package-registry.ts'

const LEFT_PAD: Release = {
  ecosystem: 'npm',
  name: 'left-pad',
  version: '1.3.0',
  source: 'https://registry.npmjs.org/',
  locked: true,
}
const AT = '2018-04-09T01:10:45.796Z'

async function asking(answers: Record<string, unknown>, timeoutMs = 5_000) {
  const registry = await packageRegistry(answers)
  const { url } = registry
  const bases = { npm: url, cargo: url, pypi: url, rubygems: url }
  return { registry, ...publicRegistries({ version: '0.0.0', bases, timeoutMs }) }
}

it('is asked the way that the edge gave', async () => {
  const asked: string[] = []
  const web = async (url: string) => {
    asked.push(url)
    return new Response(JSON.stringify({ time: { '1.3.0': AT } }))
  }
  const { publishedAt } = publicRegistries({ version: '0.0.0', web })
  expect(await publishedAt(LEFT_PAD)).toBe(AT)
  expect(asked).toEqual(['https://registry.npmjs.org/left-pad'])
})

describe('when a release was published', () => {
  const cases: [Release, path: string, answer: unknown, at: string][] = [
    [LEFT_PAD, '/left-pad', { time: { created: '2014-03-14T09:09:18.000Z', '1.3.0': AT } }, AT],
    [
      { ...LEFT_PAD, name: '@a/b', source: 'registry, installed as c' },
      '/%40a%2Fb',
      { time: { '1.3.0': '2018-04-09T03:10:45.796+02:00' } },
      AT,
    ],
    [
      {
        ecosystem: 'cargo',
        name: 'memchr',
        version: '2.5.0',
        source: 'https://github.com/rust-lang/crates.io-index',
        locked: true,
      },
      '/api/v1/crates/memchr/2.5.0',
      { version: { created_at: '2022-04-30T12:00:00.000000+00:00' } },
      '2022-04-30T12:00:00.000Z',
    ],
    [
      { ecosystem: 'pypi', name: 'idna', version: '==3.7', source: 'registry', locked: false },
      '/pypi/idna/3.7/json',
      {
        urls: [
          { upload_time_iso_8601: '2024-04-11T03:34:43Z' },
          { upload_time_iso_8601: '2026-01-01T00:00:00Z' },
        ],
      },
      '2026-01-01T00:00:00.000Z',
    ],
    [
      {
        ecosystem: 'rubygems',
        name: 'rake',
        version: '13.2.1',
        source: 'https://rubygems.org/',
        locked: true,
      },
      '/api/v1/versions/rake.json',
      [
        { number: '13.2.0', platform: 'ruby', created_at: '2024-04-02T00:00:00.000Z' },
        { number: '13.2.1', platform: 'ruby', created_at: '2024-04-05T00:00:00.000Z' },
      ],
      '2024-04-05T00:00:00.000Z',
    ],
  ]

  it.each(cases)('%j is asked of its registry', async (release, path, answer, at) => {
    const { registry, publishedAt } = await asking({ [path]: answer })
    expect(await publishedAt(release)).toBe(at)
    expect(registry.asked).toEqual([path])
  })

  it.each<[string, unknown]>([
    ['not there', undefined],
    ['of another form', { time: 'yesterday' }],
    ['no JSON', '<html>'],
    ['without this version', { time: { '1.2.0': AT } }],
    ['no date', { time: { '1.3.0': 'soon' } }],
    ['somewhere else', '/elsewhere'],
  ])('is unknown where the answer is %s', async (_, answer) => {
    const { registry, publishedAt } = await asking({
      '/left-pad': answer,
      '/elsewhere': { time: { '1.3.0': AT } },
    })
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    expect(registry.asked).toEqual(['/left-pad'])
  })

  it('is unknown where no answer comes, or nobody is there', async () => {
    const { publishedAt } = await asking({ '/left-pad': NEVER }, 50)
    expect(await publishedAt(LEFT_PAD)).toBeNull()
    const gone = publicRegistries({ version: '0.0.0', bases: { npm: 'http://127.0.0.1:1' } })
    expect(await gone.publishedAt(LEFT_PAD)).toBeNull()
  })

  it.each<Partial<Release>>([
    { source: 'http://169.254.169.254/' },
    { source: 'https://registry.example.org/' },
    { source: 'git https://github.com/a/b#c' },
    { locked: false, version: '^1.3.0' },
    { locked: false },
    { version: '../../x' },
    { version: '1.3.0?x' },
    { ecosystem: 'go', name: 'example.org/a', version: 'v1.0.0' },
    { ecosystem: '__proto__' },
  ])('is asked of nobody with %j', async change => {
    const { registry, publishedAt } = await asking({})
    expect(await publishedAt({ ...LEFT_PAD, ...change })).toBeNull()
    expect(registry.asked).toEqual([])
  })
})
