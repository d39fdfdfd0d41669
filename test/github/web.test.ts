import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { createWebFetch } from '../../src/github/web.ts'
import { webProxy } from '../servers/web-proxy.ts'
import { listeningForTest } from '../servers/loopback.ts'

const HOST = 'github.corp.invalid'

/** Says what it was told: which headers came as far as here. */
async function target() {
  const server = createServer((request, response) => {
    const { url, headers } = request
    if (url === '/moved') return void response.writeHead(302, { location: `http://${HOST}/there` }).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ url, headers }))
  })
  return { host: '127.0.0.1', port: await listeningForTest(server) }
}

async function behind(user?: string) {
  const proxy = await webProxy(user)
  proxy.hosts[HOST] = await target()
  return proxy
}

test('what is asked by a proxy arrives as it was asked, without what was told to the proxy', async () => {
  const proxy = await behind('ada:secret')
  const web = createWebFetch({ http_proxy: proxy.url('ada:secret') })
  const answer = await web(`http://${HOST}/here?a=b`, { headers: { authorization: 'token x' } })
  const { url, headers } = JSON.parse(await answer.text())
  expect([url, headers.host, headers.authorization]).toEqual(['/here?a=b', HOST, 'token x'])
  expect(headers).not.toHaveProperty('proxy-authorization')
  expect((await web(`http://${HOST}/moved`, { redirect: 'manual' })).headers.get('location')).toBe(
    `http://${HOST}/there`,
  )
  await expect(web(`http://${HOST}/moved`, { redirect: 'error' })).rejects.toThrow('fetch failed')
})

test.each(['http', 'https'])(
  'a proxy that turns %s away is named, and what it was told is not',
  async scheme => {
    const proxy = await behind('ada:secret')
    const name = `${scheme.toUpperCase()}_PROXY`
    const web = createWebFetch({ [name]: proxy.url('eve:wrong') })
    const failed: unknown = await web(`${scheme}://${HOST}/`, {}).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      name: 'TypeError',
      cause: {
        message: expect.stringMatching(new RegExp(`^by ${name} \\(http://127\\.0\\.0\\.1:\\d+\\): .*407`)),
      },
    })
    expect(JSON.stringify(failed, Object.getOwnPropertyNames(failed))).not.toContain('wrong')
  },
)

test('who does not wait any longer hears that, also from a proxy that says nothing', async () => {
  const silent = createServer(() => undefined)
  const port = await listeningForTest(silent)
  const web = createWebFetch({ ALL_PROXY: `http://127.0.0.1:${port}` })
  const asked = web(`http://${HOST}/`, { signal: AbortSignal.timeout(50) })
  await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('without a proxy, and where none is wanted, nobody stands between', async () => {
  const proxy = await webProxy()
  const { port } = await target()
  for (const env of [{}, { HTTP_PROXY: proxy.url(), NO_PROXY: '127.0.0.1' }]) {
    const answer = await createWebFetch(env)(`http://127.0.0.1:${port}/`, {})
    expect(answer.status).toBe(200)
  }
  expect(proxy.asked).toEqual([])
})
