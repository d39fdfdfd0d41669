import { describe, expect, it, onTestFinished } from 'vitest'
import { ForgeError } from '../../src/errors.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { gitServer } from '../servers/git-http.ts'
import type { CampaignClient } from '../support/campaign-client.ts'
import { letters, shorter, createSizeRepository } from '../support/size-repository.ts'
import { patchOf, proven } from '../support/repository.ts'
import { releaseTest } from '../support/cases.ts'

const AUTH = 'x-access-token:s3cret'
const SERIAL = 'execution: { mode: serial }\n'
const isOrdered = ({ experiments }: Campaign) => experiments['exp-001']?.status === 'ordered'

/** A repository whose remote is git's own smart-HTTP server, with a person's credentials in the environment. */
async function served(ideas: readonly string[], spec = SERIAL) {
  const site = await createSizeRepository(ideas, { remote: true, spec })
  let status: number | null = null
  const server = await gitServer({ root: site.root, auth: AUTH, fault: () => status })
  onTestFinished(() => server.stop())
  const url = server.url('remote.git')
  site.git('remote', 'set-url', 'origin', url)
  return {
    site,
    server,
    url,
    /** From now on every request is answered with this; null: as it should be. */
    answers: (code: number | null) => void (status = code),
    openClient: (env = server.credentials()) => site.another({ env }),
  }
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    value => ({ didNotFail: value }),
    (error: unknown) => error,
  )
}

/** To its end, with each thing in the ledger once. */
async function endsAsEver(client: CampaignClient): Promise<void> {
  expect(await client.run()).toEqual({ for: 'ideas' })
  expect(await client.outcomes()).toEqual({ a3: 'kept' })
  const once = ['campaign-started', 'experiment-opened', 'decided', 'merged', 'incumbent-moved', 'order-lost']
  const kinds = await client.kinds()
  expect(once.map(kind => kinds.filter(each => each === kind).length)).toEqual([1, 1, 1, 1, 1, 0])
  await proven(client.place)
}

describe('a campaign over smart HTTP with Basic auth', () => {
  it('runs from its start to its audit, and an empty cache elsewhere audits the same', async () => {
    const broken = patchOf(
      { 'src/c.txt': [letters('c', 15), 'broken\n'] },
      { hypothesis: 'breaks the tests' },
    )
    const { site, server, openClient } = await served([shorter('a', 3), broken], '')
    const here = await openClient()
    expect(await here.start()).toBe('started')
    site.push(site.commitOn('main', { 'src/b.txt': letters('b', 5) }, 'mine'), 'optimize-exp/size/mine')
    expect(await here.run()).toEqual({ for: 'ideas' })
    expect(await here.outcomes()).toEqual({
      a3: 'kept',
      mine: 'runner_up_kept',
      'breaks the tests': 'degenerate',
    })
    await proven(here.place)
    const elsewhere = await openClient()
    const before = server.requests
    await proven(elsewhere.place)
    expect(server.requests).toBeGreaterThan(before)
    expect(await elsewhere.campaign()).toEqual(await here.campaign())
    expect(site.bare('show', 'optimize/size:src/b.txt')).toBe('bbbbb')
  })
})

describe('a remote over HTTP', () => {
  it('that rejects the credentials is named with its 401, and no password is printed', async () => {
    const { url, server, openClient } = await served([])
    const credentials = server.credentials()
    const wrong = Buffer.from('x-access-token:hunter2').toString('base64')
    const error = await failureOf(
      openClient({ ...credentials, GIT_CONFIG_VALUE_0: `Authorization: Basic ${wrong}` }),
    )
    expect(error).toBeInstanceOf(ForgeError)
    expect(error).toMatchObject({
      message: expect.stringMatching(`^cannot read ${url}: .*(401|Authentication failed|could not read)`),
      detail: { status: 401 },
    })
    expect(JSON.stringify([error, String(error)])).not.toMatch(`hunter2|${wrong}`)
  })

  releaseTest('whose token expires says so, and the campaign continues with a new token', async () => {
    const { url, answers, openClient } = await served([shorter('a', 3)])
    const here = await openClient()
    await here.start()
    await here.until(isOrdered)
    answers(401)
    const error = await failureOf(here.run())
    expect(error).toMatchObject({ name: 'ForgeError', detail: { status: 401 } })
    expect(error).toHaveProperty('message', expect.stringContaining(url))
    answers(null)
    await endsAsEver(here)
  })

  releaseTest(
    'that is unreachable during a measurement is named, and the campaign continues when it is back',
    async () => {
      const { url, server, openClient } = await served([shorter('a', 3)])
      const here = await openClient()
      await here.start()
      await here.until(isOrdered)
      await server.stop()
      for (const _ of ['at first', 'and still']) {
        const error = await failureOf(here.run())
        expect(error).toBeInstanceOf(ForgeError)
        expect(error).toHaveProperty('message', expect.stringMatching(`${url}: .*(refused|connect)`))
      }
      await server.back()
      await endsAsEver(here)
    },
  )

  it('that accepts a push and dies before its answer: the push is found and not repeated', async () => {
    const { site, url, openClient } = await served([shorter('a', 3)])
    const here = await openClient()
    await here.start()
    await here.until(isOrdered)
    site.hook('reference-transaction', '[ "$1" = committed ] && { rm "$0"; kill -9 $PPID; }; exit 0')
    const tip = () => site.bare('rev-parse', 'optimize-state/size')
    const before = tip()
    const error = await failureOf(here.run())
    expect(error).toBeInstanceOf(ForgeError)
    expect(error).toHaveProperty('message', expect.stringContaining(url))
    expect(tip()).not.toBe(before)
    await endsAsEver(here)
  })
})
