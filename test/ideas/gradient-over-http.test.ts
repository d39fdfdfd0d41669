import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { askTextGradient } from '../../src/ideas/text-gradient.ts'
import { FAILING_REPLIES, httpModels, UNFIT_ANSWERS, UNKNOWN_MODEL } from '../judge/http-models.ts'
import type { AskedModel, ModelReply } from '../servers/model-server.ts'

const ARTIFACTS = [
  { name: 'planner', content: 'Plan first.\n' },
  { name: 'worker', content: 'Check the inputs.\n' },
]

/** A text gradient over HTTP, about two artifacts. */
async function askOverHttp(
  reply: (asked: AskedModel, before: number) => ModelReply,
  options: Parameters<typeof httpModels>[1] & { defects?: string } = {},
) {
  const { server, models } = await httpModels(reply, options)
  const gradient = await askTextGradient({
    artifacts: ARTIFACTS,
    defects: options.defects ?? 'octopi: 0.6',
    learningRate: 1,
    model: 'm',
    models,
    signal: new AbortController().signal,
  })
  return { gradient, asked: server.asked, usage: models.usage() }
}

function rewrite(name: string, rest: Record<string, unknown> = {}): ModelReply {
  const text = JSON.stringify({
    artifact_name: name,
    proposed_content: 'Write a checklist.\n',
    rationale: 'steps were forgotten',
    expected_loss_reduction: 0.3,
    confidence: 0.5,
    ...rest,
  })
  return { text, tokens: [7, 3] }
}

describe('a reply that is no rewrite', () => {
  it.each<[string, ModelReply]>([
    ...UNFIT_ANSWERS,
    ['proposes nothing', rewrite('planner', { artifact_name: null })],
    ['names a file of the harness', rewrite('../bench/suite.mjs')],
    ['has numbers as words', rewrite('planner', { confidence: 'high' })],
    ['has a nested object as text', rewrite('planner', { proposed_content: { text: 'x' } })],
    ['is longer than an artifact may be', rewrite('planner', { proposed_content: 'x'.repeat(20_001) })],
  ])('%s: every artifact is asked about, none is changed, and the cost counts', async (_, reply) => {
    const { gradient, asked, usage } = await askOverHttp(() => reply)
    expect(gradient).toMatchObject({ ok: false, isUnasked: false, reason: expect.stringContaining('worker') })
    expect(asked).toHaveLength(2)
    expect(usage).toMatchObject({ requests: 2, tokens: 20, usd: 20 / 1_000_000 })
  })

  it.each(UNFIT_ANSWERS)('%s, and takes nothing from the rewrite of another artifact', async (_, unfit) => {
    const { gradient } = await askOverHttp((_asked, before) => (before === 0 ? unfit : rewrite('worker')))
    expect(gradient).toMatchObject({ ok: true, rewrite: { artifact: 'worker' } })
  })

  it('refuses one question for its content: the others are asked', async () => {
    const filtered: ModelReply = { status: 400, body: { error: { message: 'content filter' } } }
    const { gradient } = await askOverHttp((_, before) => (before === 0 ? filtered : rewrite('worker')))
    expect(gradient).toMatchObject({
      ok: true,
      rejected: [expect.stringMatching(/^planner: no answer: .+content filter$/)],
    })
  })
})

describe('an endpoint that gives no answer', () => {
  it.each(FAILING_REPLIES)(
    '%s for minutes: one reason, and no other artifact waits for it',
    async (_, reply) => {
      const { gradient, asked } = await askOverHttp(() => reply)
      expect(gradient).toEqual({
        ok: false,
        isUnasked: true,
        reason: expect.stringMatching(/^127\.0\.0\.1:\d+ [^;]+$/),
      })
      expect(new Set(asked.map(({ user }) => /^Artifact: (.*)$/m.exec(user)?.[1]))).toEqual(
        new Set(['planner']),
      )
    },
  )

  it('is silent: the answer is given up, counts with its highest cost, and is asked for again', async () => {
    const { gradient, usage } = await askOverHttp(
      (_, before) => (before === 0 ? 'silent' : rewrite(before === 1 ? 'planner' : 'worker')),
      { timeoutMs: 200 },
    )
    expect(gradient).toMatchObject({ ok: true })
    expect(usage).toMatchObject({ requests: 3, unanswered: 1 })
    // A lost answer may have been as long as it was allowed to be.
    expect(usage.usd).toBeGreaterThan(12_000 / 1_000_000)
  })

  it('does not know the model: one question, one reason, no cost', async () => {
    const { gradient, asked, usage } = await askOverHttp(() => UNKNOWN_MODEL)
    expect(gradient).toEqual({
      ok: false,
      isUnasked: true,
      reason: expect.stringMatching(/^127\.0\.0\.1:\d+ has no model m.+does not exist$/),
    })
    expect([asked.length, usage.usd]).toEqual([1, 0])
  })

  it('fails later: the rewrites until then count', async () => {
    const { gradient } = await askOverHttp((_, before) =>
      before === 0 ? rewrite('planner') : { status: 401 },
    )
    expect(gradient).toMatchObject({ ok: true, rewrite: { artifact: 'planner' } })
  })

  it('is asked no more once the cap is reached', async () => {
    const dear: ModelReply = { text: 'no', tokens: [400_000, 0] }
    const { gradient, asked, usage } = await askOverHttp(() => dear, { capUsd: 0.3 })
    expect(gradient).toMatchObject({
      ok: false,
      isUnasked: false,
      reason: expect.stringContaining('$0.40 of $0.30 are spent on m'),
    })
    expect([asked.length, usage.usd]).toEqual([1, 0.4])
  })
})

const INJECTIONS = JSON.parse(readFileSync('fixtures/judge/injections.json', 'utf8')) as string[]

it('text of runs stays between marks that it cannot know, outside the instructions', async () => {
  for (const defects of INJECTIONS.filter(text => text.length > 5)) {
    const { asked } = await askOverHttp(() => rewrite('planner'), { defects })
    for (const { user, system } of asked) {
      const [, mark = ''] = /The text as it is:\n([0-9a-f]{32})\n/.exec(user) ?? []
      const parts = user.split(`\n${mark}`)
      expect(parts).toHaveLength(5)
      expect(parts[3]).toBe(`\n${defects}`)
      expect(system).not.toContain(defects)
    }
  }
})
