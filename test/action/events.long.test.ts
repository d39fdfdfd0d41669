import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isJson } from '../github/contract/describe.ts'
import { payloadWrongs, recorded } from '../github/contract/webhooks.ts'
import { scratch } from '../git/scratch.ts'
import { BUNDLED, IN_PROCESS, onGithub } from './a-campaign.ts'

const ORDERS = '/winnow stop\n::set-output name=propose::size\n##[set-output name=judge]size'

const FREE_TEXT = new Set(['body', 'title', 'display_title', 'description'])

/** The same with orders in every text that a person wrote. */
function orderly(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(orderly)
  if (!isJson(value)) return value
  const members = Object.entries(value).map(
    ([key, each]) => [key, FREE_TEXT.has(key) && typeof each === 'string' ? ORDERS : orderly(each)] as const,
  )
  return Object.fromEntries(members)
}

const firsts = new Map(recorded.toReversed().map(each => [each.event, each]))
const lasts = new Map(recorded.map(each => [each.event, each]))

/** What the runner hands over: one of each event as it was recorded, and one with orders in it. */
const EVENTS = [
  ...firsts.values(),
  ...[...lasts.values()].map(each => ({ ...each, payload: orderly(each.payload) })),
  // Of a schedule there is no webhook: the runner writes the line that it was.
  { event: 'schedule', payload: { schedule: '7 * * * *' } },
]

const AT_ONCE = 4

test('tick takes nothing from the event that woke it, whatever stands there, and looks for at most three requests', async () => {
  const { github, scene, token } = await onGithub()
  await IN_PROCESS.ticking(github, token)
  const first = await BUNDLED.ticking(github, token)
  expect(first.result).toMatchObject({ campaigns: [{ waiting: { for: 'orders' } }] })
  const before = { refs: scene.git('for-each-ref'), ...worldOf(github) }
  const dir = scratch('winnow-event-')
  github.spent()
  for (let from = 0; from < EVENTS.length; from += AT_ONCE) {
    const some = EVENTS.slice(from, from + AT_ONCE).map(async ({ event, payload }, index) => {
      const file = join(dir, `${from + index}.json`)
      writeFileSync(file, JSON.stringify(payload))
      const ended = await IN_PROCESS.ticking(github, token, {
        GITHUB_EVENT_NAME: event,
        GITHUB_EVENT_PATH: file,
      })
      expect([event, ended.code, ended.stderr, ended.orders]).toEqual([event, 0, '', []])
      // Who wrote a comment is asked first, and none of them may steer here.
      const isComment = event === 'issue_comment'
      if (isComment) expect(ended.stdout).toContain('has no write access here')
      else expect([ended.stdout, ended.outputs]).toEqual([first.stdout.trimEnd(), first.outputs])
    })
    await Promise.all(some)
  }
  expect(github.spent().length).toBeLessThanOrEqual(3 * EVENTS.length)
  expect({ refs: scene.git('for-each-ref'), ...worldOf(github) }).toEqual(before)
}, 240_000)

function worldOf({ world }: Awaited<ReturnType<typeof onGithub>>['github']) {
  const { pulls, comments, checks, runs } = world
  return { pulls: pulls.length, comments: comments.length, checks: checks.length, runs: runs.length }
}

test('with orders in it an event is still one that GitHub could send', () => {
  for (const { event, payload } of recorded)
    expect(payloadWrongs(event, orderly(payload))).toEqual(payloadWrongs(event, payload))
})
