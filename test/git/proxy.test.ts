import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  buildNetworkIsolation,
  findProxy,
  listProxySecrets,
  removeProxySecrets,
} from '../../src/git/isolation.ts'

const API = 'https://api.github.com/repos/a/b'
const origin = (env: Record<string, string>, address = API) => findProxy(address, env)?.origin ?? null

describe('the proxy for an address', () => {
  it.each<[Record<string, string>, string | null]>([
    [{}, null],
    [{ HTTPS_PROXY: 'http://a:1' }, 'http://a:1'],
    [{ https_proxy: 'http://a:1' }, 'http://a:1'],
    [{ https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, 'http://a:1'],
    [{ https_proxy: '', HTTPS_PROXY: 'https://b:2/' }, 'https://b:2'],
    [{ HTTPS_PROXY: 'a:3128' }, 'http://a:3128'],
    [{ HTTP_PROXY: 'http://a:1' }, null],
    [{ ALL_PROXY: 'http://a:1' }, 'http://a:1'],
    [{ all_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, 'http://b:2'],
  ])('%j', (env, expected) => {
    expect(origin(env)).toBe(expected)
    // The same names in the same way, for the other scheme.
    const plain = Object.entries(env).map(([name, value]) => [
      name.replace(/s(?=_proxy)|S(?=_PROXY)/, ''),
      value,
    ])
    if (!('HTTP_PROXY' in env)) expect(origin(Object.fromEntries(plain), 'http://ghe/')).toBe(expected)
  })

  it.each<[string, string, boolean]>([
    ['github.com', API, true],
    ['.github.com', API, true],
    ['*.github.com', API, true],
    ['api.github.com:443', API, true],
    ['api.github.com:8443', API, false],
    ['b.example, API.GitHub.com', API, true],
    ['b.example api.github.com', API, true],
    ['hub.com', API, false],
    ['*', API, true],
    ['', API, false],
    [',', API, false],
    ['127.0.0.1', 'https://127.0.0.1:8443/', true],
    ['127.0.0.1:8443', 'https://127.0.0.1:8443/', true],
    ['::1', 'https://[::1]/', true],
    ['[::1]:443', 'https://[::1]/', true],
    ['ghe.corp:80', 'http://ghe.corp/', true],
  ])('is none where NO_PROXY is %j, for %s: %s', (list, address, exempt) => {
    for (const name of ['NO_PROXY', 'no_proxy'])
      expect(origin({ ALL_PROXY: 'http://a:1', [name]: list }, address)).toBe(exempt ? null : 'http://a:1')
  })

  it('is told who asks, as its address says it', () => {
    const of = (value: string) => findProxy(API, { HTTPS_PROXY: value })?.authorization
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    expect(of('http://ada:p%40ss@a:1')).toBe(basic('ada:p@ss'))
    expect(of('http://ada@a:1')).toBe(basic('ada:'))
    expect(of('http://a:1')).toBeNull()
  })

  it.each(['socks5://secret@a:1', 'ftp://secret@a', 'http://secret:%zz@a', 'http://:x@', 'http://se cret'])(
    'that is none is refused by the name of its variable, and its value is not repeated: %s',
    value => {
      const asked = () => findProxy(API, { https_proxy: value })
      expect(asked).toThrow(/^https_proxy is not the address of a proxy/)
      expect(asked).not.toThrow(/secret|se cret/)
    },
  )
})

describe('what git is given', () => {
  test('HTTP_PROXY in small letters too, unless that says something else; nothing of it for what stays here', () => {
    const given = (env: Record<string, string>) => buildNetworkIsolation('/', env).env
    expect(given({ HTTP_PROXY: 'http://a' })).toMatchObject({
      http_proxy: 'http://a',
      HTTP_PROXY: 'http://a',
    })
    expect(given({ HTTP_PROXY: 'http://a', http_proxy: 'http://b' })).toMatchObject({
      http_proxy: 'http://b',
    })
    expect(given({ HTTPS_PROXY: 'http://a' })).not.toHaveProperty('http_proxy')
  })
})

describe('what a proxy is told of who asks', () => {
  it('is found in every form, and nothing else is', () => {
    const secrets = listProxySecrets({
      HTTPS_PROXY: 'http://ada:p%2Fss@a:1',
      http_proxy: 'ada:word@b',
      NO_PROXY: 'x:y@z',
      OTHER: 'http://a:b@c',
      ALL_PROXY: 'http://ada@a',
    })
    const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '')
    expect(new Set(secrets)).toEqual(
      new Set(['p%2Fss', 'p/ss', base64('ada:p/ss'), 'word', base64('ada:word')]),
    )
  })

  it('stays out of processes that must not know it, and its address without it does not', () => {
    const env = { HTTPS_PROXY: 'http://a:b@c', http_proxy: 'a:b@c', ALL_PROXY: 'http://c', PATH: '/bin' }
    expect(removeProxySecrets(env)).toEqual({ ALL_PROXY: 'http://c', PATH: '/bin' })
    const word = fc.stringMatching(/^[a-z0-9]{1,8}$/)
    const names = fc.constantFrom('HTTP_PROXY', 'https_proxy', 'All_Proxy')
    fc.assert(
      fc.property(names, word, word, (name, user, password) => {
        expect(removeProxySecrets({ [name]: `http://${user}:${password}@host:1` })).toEqual({})
      }),
    )
  })
})
