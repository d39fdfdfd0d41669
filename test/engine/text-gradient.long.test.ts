import { describe, expect, it } from 'vitest'
import { type ModelReply, modelServer } from '../servers/model-server.ts'
import { createSizeRepository } from '../support/size-repository.ts'
import { selectCases } from '../support/cases.ts'

const SPEC = `artifacts: [{ name: a, path: src/a.txt }]
epochs: { count: 2, baseline: 2, learning_rate: 1 }
merge: { forgeable: allow, hold_above: null }
stopping: { max_total_cost_usd: 1 }
`
const rewrite = { artifact_name: 'a', proposed_content: 'aaa\n', rationale: 'three letters do' }
const GOOD: ModelReply = {
  text: JSON.stringify({ ...rewrite, expected_loss_reduction: 0.5, confidence: 0.5 }),
  tokens: [900, 100],
}
const NONE: ModelReply = { text: JSON.stringify({ artifact_name: null }), tokens: [900, 100] }

/** Its clock is a minute ahead for each question, so that retries end. */
async function learning(reply: (before: number) => ModelReply, fault?: (point: string) => void) {
  const server = await modelServer((_, before) => reply(before))
  const site = await createSizeRepository([], {
    spec: text => `${text.replace(/propose: .*/, 'propose: [{ use: textgrad, model: m }]')}${SPEC}`,
    env: { WINNOW_MODEL_URL: server.url, WINNOW_MODEL_PRICE: '1/1' },
    ahead: () => server.asked.length * 60_000,
    ...(fault ? { fault } : {}),
  })
  await site.start()
  return { site, server }
}

describe('a text gradient', () => {
  it.each<[string, ModelReply, number]>(
    selectCases([
      ['breaks off', 'cut', 0.012],
      ['is busy', { status: 429 }, 0],
      ['breaks', { status: 500 }, 0.012],
    ]),
  )(
    'whose endpoint %s for minutes stops the run with one reason, and its cost counts',
    async (_, fails, cost) => {
      let known = false
      const { site, server } = await learning(() => (known ? GOOD : fails))
      await expect(site.run()).rejects.toThrow(/^no model could be asked for a rewrite: 127\.0\.0\.1:\d+ \w/)
      const failures = server.asked.length
      expect(failures).toBeGreaterThan(2)
      known = true
      await site.reopen()
      expect(await site.run()).toMatchObject({ for: 'nothing' })
      const { epochs, spent, landings, status_reason } = await site.campaign()
      expect([status_reason, epochs.length]).toEqual(['2 epochs measured (epochs.count)', 4])
      expect(landings).toHaveLength(1)
      // Questions without an answer count with the most that they may have cost.
      expect(spent.requests).toBe(cost === 0 ? server.asked.length - failures : server.asked.length)
      expect(spent.usd).toBeGreaterThanOrEqual(cost * failures)
      expect(spent.usd).toBeLessThan(1)
      await site.proven()
    },
    120_000,
  )

  it.each<[string, number]>(
    selectCases([
      ['ask:answered', 2],
      ['ask:stored', 1],
    ]),
  )(
    'that is cut off at %s is asked %d times, and lands once',
    async (where, times) => {
      let cut = false
      const fault = (point: string) => {
        if (point !== where || cut) return
        cut = true
        throw new Error('cut off')
      }
      const { site, server } = await learning(before => (before < times ? GOOD : NONE), fault)
      await expect(site.run()).rejects.toThrow('cut off')
      await site.reopen()
      await site.run()
      const { landings, epochs } = await site.campaign()
      expect([landings.length, epochs.length]).toEqual([1, 4])
      expect(server.asked).toHaveLength(times + 1)
      expect((await site.kinds()).filter(kind => kind === 'experiment-opened')).toHaveLength(1)
      await site.proven()
    },
    120_000,
  )
})
