import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { jobClone } from '../action/a-job.ts'
import { openCampaignClient } from '../support/campaign-client.ts'
import { proven } from '../support/repository.ts'
import { scratch } from '../git/scratch.ts'
import type { Fault } from '../servers/fault-proxy.ts'
import { exactly, type Life, life, type Moment, tipsOf, undisturbed, whatIsThere } from './life.ts'
import type { Waking, Woken } from './job-in-process.ts'
import { releaseTest } from '../support/cases.ts'

/** All requests, all faults and all kills; else some, drawn by seed from the first wake-ups. */
const full = process.env['WINNOW_FAULTS'] === 'full'
const SEED = 1905
const SAMPLES = 4
const WAKE_UPS = full ? 9 : 3
/** Lives at a time: each has a GitHub of its own, and goes on from the moments of one. */
const SIDE_BY_SIDE = full ? 3 : 1

const LIMIT = 'You have exceeded a secondary rate limit. Please wait a few minutes.'
const FAULTS: Record<string, Fault> = {
  'is refused with 403': { status: 403, message: 'Forbidden' },
  'is answered with 404': { status: 404, message: 'Not Found' },
  'is answered with 422': { status: 422, message: 'Unprocessable Entity' },
  'is answered with 500': { status: 500, message: 'Server Error' },
  'is answered by a gateway with 502': { status: 502 },
  'meets the secondary limit': { status: 403, message: LIMIT, headers: { 'retry-after': '7' } },
  'meets a limit that lasts': { status: 403, message: LIMIT, headers: { 'retry-after': '600' } },
  'is one too many (429)': { status: 429, message: 'Too Many Requests' },
  'is reset before it arrives': 'reset',
  'is done, and its answer lost': 'lost',
  'is answered by half': 'cut',
  'is never answered': 'silent',
}

interface Trial {
  moment: number
  /** A kind of request, or a point at which a wake-up can be cut off. */
  where: string
  /** How many of these come before it. */
  nth: number
  /** One of the faults, or a kill. */
  what: string
}

const KILLED = 'is killed'

/** Method and path, without what differs between lives. */
const kindOf = (request: string) => request.replaceAll(/\b(?:[0-9a-f]{40}|\d+)\b/g, 'N')

const isReading = (request: string) => /info\/refs|git-upload-pack/.test(request)

/** Each of them, by its place among its own kind. */
function numbered(all: readonly string[]): { where: string; nth: number }[] {
  const counts = new Map<string, number>()
  return all.map(where => {
    const nth = counts.get(where) ?? 0
    counts.set(where, nth + 1)
    return { where, nth }
  })
}

function everyTrial(moments: readonly Moment[]): Trial[] {
  const names = Object.keys(FAULTS)
  return moments.flatMap(({ requests, points }, moment) => [
    ...numbered(requests.map(kindOf)).flatMap(({ where, nth }, at) => {
      // Questions to git before anything is written are the same at every wake-up: all faults at one, then in turn.
      const tried = isReading(where) && moment !== 1 ? [names[at % names.length] ?? ''] : names
      return tried.map(what => ({ moment, where, nth, what }))
    }),
    ...numbered(points).map(point => ({ moment, ...point, what: KILLED })),
  ])
}

/** What a person reads where a wake-up could not go on: what was asked of whom, and what came back. */
const CLEAR =
  /^::error title=winnow::(?:killed$|(?:GitHub|GitHub's answer|an artifact|cannot|the remote) .*\S)/m

/** How often a wake-up asks what differs a little, as answers differ in time: then it meets the last one. */
async function wakeWith(here: Life, moment: Moment, trial: Trial): Promise<Woken> {
  const { where, nth, what } = trial
  await here.restore(moment.before)
  let reached = 0
  const isNow = (place: string) => place === where && reached++ === nth
  const fault = FAULTS[what] ?? null
  here.proxy.fault = (method, path) => (fault !== null && isNow(kindOf(`${method} ${path}`)) ? fault : null)
  const reach = (point: string) => {
    if (what === KILLED && isNow(point)) throw new Error('killed')
  }
  const hasty = fault === 'silent' ? HASTY : {}
  const woken = await here.wake({ ...moment.job, around: { faults: { reach } }, ...hasty })
  here.proxy.fault = () => null
  if (reached > nth) return woken
  if (reached === 0) throw new Error('it never came so far')
  return wakeWith(here, moment, { ...trial, nth: reached - 1 })
}

/** What a wake-up tells or answers in other words where GitHub refused this, beside what it does in the end. */
const TOLD: readonly { where: RegExp; line: RegExp }[] = [
  { where: /dispatches$/, line: /^events: .*"dispatch-refused/ },
  { where: /reactions$/, line: /^comments: .*"body":"measure: an answer/ },
]

/** Who is never answered gives up at once, where a job would wait for half a minute. */
const HASTY: Partial<Waking> = {
  patience: { timeoutMs: 1_000 },
  env: { GIT_HTTP_LOW_SPEED_LIMIT: '1', GIT_HTTP_LOW_SPEED_TIME: '1' },
}

/** What is wrong after a wake-up that something happened to and another one: nothing, as if it had not happened. */
async function wrongAfter(here: Life, moment: Moment, trial: Trial): Promise<string[]> {
  const first = await wakeWith(here, moment, trial)
  if (first.code !== 0 && !CLEAR.test(first.out)) return ['no clear line', first.out]
  if (exactly(here) === moment.untouched) return []
  const second = await here.wake(moment.job)
  if (second.code !== 0) return ['the next wake-up failed', second.out]
  const there = whatIsThere(here)
  const expected = [...moment.after]
  if (tipsOf(here.scene) !== moment.tips) await expectSound(here)
  const more = there.filter(line => {
    const at = expected.indexOf(line)
    if (at >= 0) expected.splice(at, 1)
    return (
      at < 0 && !TOLD.some(told => told.where.test(trial.where) && told.line.test(line.replaceAll('\\', '')))
    )
  })
  return [...more.map(line => `too much: ${line}`), ...expected.map(line => `missing: ${line}`)]
}

async function expectSound({ github }: Life): Promise<void> {
  const { dir } = jobClone(github.bare, 'main')
  const client = await openCampaignClient({ name: 'size', directory: dir, cacheDir: scratch(), remote: null })
  await proven(client.place)
  await client.close()
}

let begun: Promise<{ lives: Life[]; moments: Moment[] }> | null = null
function beginning() {
  begun ??= (async () => {
    const lives = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, life))
    const [first] = lives
    return { lives, moments: first ? await undisturbed(first, WAKE_UPS) : [] }
  })()
  return begun
}
afterAll(async () => {
  for (const each of (await begun)?.lives ?? []) await each.end()
})

const nat = fc.nat()
const drawn = fc.sample(fc.tuple(nat, nat, nat), { seed: SEED, numRuns: SAMPLES })

/** Of the last wake-up there is, which does most; one of them a kill. */
function someTrials(moments: readonly Moment[]): Trial[] {
  const moment = moments.length - 1
  const { requests = [], points = [] } = moments[moment] ?? {}
  const faults = Object.keys(FAULTS)
  const writing = numbered(requests.map(kindOf).filter(request => !isReading(request)))
  const cuts = numbered(points)
  return drawn.map(([where, which], index) => {
    const [places, names] = index === 0 ? [cuts, [KILLED]] : [writing, faults]
    const place = places[where % places.length]
    if (!place) throw new Error(`nothing happens at moment ${moment}`)
    return { moment, ...place, what: names[which % names.length] ?? '' }
  })
}

describe('a wake-up anywhere in the life of a campaign', () => {
  releaseTest(
    'in which one request goes wrong, or that is killed, leaves nothing that the next one does not mend',
    {
      timeout: full ? 3 * 3_600_000 : 600_000,
    },
    async () => {
      const { lives, moments } = await beginning()
      const trials = full ? everyTrial(moments) : someTrials(moments)
      const wrong: object[] = []
      async function live(here: Life): Promise<void> {
        for (let trial = trials.pop(); trial; trial = trials.pop()) {
          const moment = moments[trial.moment]
          if (!moment) continue
          const found = await wrongAfter(here, moment, trial).catch((error: unknown) => [String(error)])
          if (found.length > 0) wrong.push({ during: moment.name, ...trial, found })
        }
      }
      await Promise.all(lives.map(live))
      expect(wrong).toEqual([])
    },
  )

  test('beside another one does what one alone does', { timeout: full ? 3_600_000 : 600_000 }, async () => {
    const { lives, moments } = await beginning()
    const [here] = lives
    if (!here) throw new Error('nobody lives')
    for (const moment of moments.slice(full ? 0 : -1)) {
      await here.restore(moment.before)
      const both = await Promise.all([here.wake(moment.job), here.wake(moment.job)])
      expect(both).toMatchObject([{ code: 0 }, { code: 0 }])
      const after = await here.wake(moment.job)
      expect(after.code).toBe(0)
      // Both may answer the same comment: it acted once, and is told so twice in the same words.
      const told = [...new Set(whatIsThere(here))]
      expect(told).toEqual([...new Set(moment.after)])
      await expectSound(here)
    }
  })

  test('asked for something, wrote something and could be killed: the faults met all of that', async () => {
    const { moments } = await beginning()
    const asked = moments.flatMap(({ requests }) => requests)
    for (const kind of [
      /git-receive-pack/,
      /dispatches$/,
      /\/pulls$/,
      /check-runs$/,
      /_artifacts/,
      /graphql/,
    ])
      expect(asked.some(request => kind.test(request))).toBe(true)
    expect(moments.flatMap(({ points }) => points)).toContain('before:dispatch')
  })
})
