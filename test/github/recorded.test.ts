import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { answerWrongs, requestWrongs } from './contract/certify.ts'
import { isJson, operationOf } from './contract/describe.ts'
import { scene } from './scene.ts'

interface Exchange {
  scenario: string
  method: string
  path: string
  status: number
  body?: unknown
  response?: unknown
  /** Of a list, where its other pages are. */
  link?: string
}

const FIXTURE = new URL('../../fixtures/github/recorded.json', import.meta.url)
const { exchanges }: { exchanges: Exchange[] } = JSON.parse(readFileSync(FIXTURE, 'utf8'))

/** What GitHub has begun to say since it was recorded. */
const NEWER = /required property 'has_discussions'$/

async function opened() {
  const it = await scene()
  const ada = it.github.token('ada')
  it.commit('fast', { 'src/a.txt': 'faster\n' }, [it.tip('main')])
  await it.ask(ada, 'POST /pulls', { title: 'x', head: 'fast', base: 'main' })
  return { ...it, ada }
}

describe('what GitHub was recorded to say', () => {
  const ours = exchanges.flatMap(exchange => {
    const found = operationOf(exchange.method, exchange.path)
    return found && exchange.response !== undefined ? [{ exchange, operation: found.operation }] : []
  })

  test('is what its description allows, and the questions as well', () => {
    expect(ours.map(({ operation }) => operation.route.replace('/repos/{owner}/{repo}', ''))).toEqual([
      'GET ',
      'POST /issues/{issue_number}/labels',
    ])
    for (const { exchange, operation } of ours) {
      const { body, status, response } = exchange
      expect(requestWrongs(operation, { query: {}, body: body === '' ? undefined : body })).toEqual([])
      expect(answerWrongs(operation, status, response).filter(wrong => !NEWER.test(wrong))).toEqual([])
    }
  })

  test('is of the same kind as what the emulated one says, member by member', async () => {
    const it = await opened()
    const answers = [
      (await it.ask(it.ada, 'GET ')).body,
      (await it.ask(it.ada, 'POST /issues/1/labels', { labels: ['Foo', 'bAr', 'baZ'] })).list[0],
    ]
    for (const [index, { exchange }] of ours.entries()) {
      const real = [exchange.response].flat()[0]
      const emulated = answers[index]
      if (!isJson(real) || !isJson(emulated)) throw new Error('both are objects')
      const common = Object.keys(emulated).filter(
        key => key in real && emulated[key] !== null && real[key] !== null,
      )
      expect(common.length).toBeGreaterThan(Object.keys(emulated).length / 2)
      expect(common.map(key => [key, typeof emulated[key]])).toEqual(
        common.map(key => [key, typeof real[key]]),
      )
    }
  })

  test('of a refusal has the members that ours has', async () => {
    const it = await opened()
    const twice = await it.ask(it.ada, 'POST /pulls', { title: 'x', head: 'fast', base: 'main' })
    const [refusal] = exchanges.filter(({ scenario }) => scenario === 'errors')
    expect(twice.status).toBe(refusal?.status)
    const members = isJson(refusal?.response) ? Object.keys(refusal.response) : []
    // The status in the body is newer than the record.
    expect(members.filter(name => name !== 'status').toSorted()).toEqual(Object.keys(twice.body).toSorted())
  })

  test('of pages names the same neighbours as ours: at the beginning, in the middle, at the end', async () => {
    const it = await opened()
    for (const branch of ['b', 'c', 'd', 'e']) {
      it.commit(branch, { [branch]: branch }, [it.tip('main')])
      await it.ask(it.ada, 'POST /pulls', { title: branch, head: branch, base: 'main' })
    }
    const pages = exchanges.filter(({ link }) => link !== undefined).map(({ link = '' }) => neighbours(link))
    expect(pages).toHaveLength(5)
    for (const [index, expected] of pages.entries()) {
      const { headers } = await it.ask(it.ada, `GET /pulls?per_page=1&page=${index + 1}`)
      expect(neighbours(headers.get('link') ?? '')).toEqual(expected)
    }
  })
})

/** Relation and page, whatever the rest of the address is. */
function neighbours(link: string): Record<string, string> {
  const found = [...link.matchAll(/<[^>]*[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)]
  return Object.fromEntries(found.map(([, page = '', rel = '']) => [rel, page]))
}
