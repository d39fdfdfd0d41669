import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import type { AskedModel, ModelReply } from '../servers/model-server.ts'
import {
  answers,
  SAMPLE,
  JUDGED_SPEC,
  createJudgedRepository,
  scoresByWord,
} from '../support/judged-repository.ts'
import { releaseTest, selectCases } from '../support/cases.ts'

const settled = ({ experiments }: Campaign) =>
  Object.keys(experiments).length > 0 && Object.values(experiments).every(({ status }) => status === 'ended')
const kept = ({ landings }: Campaign) => landings.length > 0

describe('an idea in a campaign that a model judges', () => {
  it('loses when it prints other items, or items without a readable score', async () => {
    const site = await createJudgedRepository(
      {
        fewer: answers('good')
          .split('\n')
          .slice(0, SAMPLE - 1)
          .join('\n'),
        mute: answers('mute'),
      },
      {
        reply: asked => (asked.user.includes('mute') ? { text: 'I would rather not.' } : scoresByWord(asked)),
      },
    )
    await site.start()
    await site.until(settled)
    expect(await site.outcomes()).toEqual({ fewer: 'error', mute: 'error' })
    expect(await site.reasonOf('fewer')).toContain('both sides print 11 of the requested items')
    expect(await site.reasonOf('mute')).toContain('two of its items have no score')
    await site.proven()
  }, 120_000)

  releaseTest(
    'is refused when the base prints too few items for a sample',
    async () => {
      const site = await createJudgedRepository(
        {},
        { spec: JUDGED_SPEC.replace('sample_size: 12', 'sample_size: 13') },
      )
      await site.start()
      expect(await site.run()).toMatchObject({ for: 'person' })
      expect((await site.campaign()).status_reason).toContain(
        'it prints 24 items, but two samples without a common item need 26',
      )
      expect(site.server.asked).toEqual([])
    },
    120_000,
  )
})

describe('the judging budget', () => {
  const dear = (asked: AskedModel): ModelReply => ({
    ...(scoresByWord(asked) as { text: string }),
    tokens: [1_000_000, 0],
  })

  it('ends the campaign when it is spent, and the ledger has the whole cost', async () => {
    const spec = JUDGED_SPEC.replace(
      'minimum_improvement: 0.5',
      'minimum_improvement: 0.5\n    max_total_cost_usd: 8',
    )
    const site = await createJudgedRepository({ better: answers('good') }, { reply: dear, spec })
    await site.start()
    expect(await site.run()).toMatchObject({ for: 'nothing' })
    const { status_reason, spent, landings } = await site.campaign()
    expect(status_reason).toContain('8 USD spent on judges (metric.judge.max_total_cost_usd)')
    expect([spent.usd, site.server.asked.length, landings]).toEqual([8, 8, []])
    await site.run()
    expect(site.server.asked).toHaveLength(8)
    await site.proven()
  }, 120_000)

  it('is not spent on a model without a known price', async () => {
    const site = await createJudgedRepository({ better: answers('good') }, { price: '' })
    await site.start()
    await expect(site.run()).rejects.toThrow('the price of the-judge is unknown')
    expect(site.server.asked).toEqual([])
  }, 120_000)
})

describe('an interrupted judged campaign', () => {
  /** Every question that was asked, as often as it was. */
  const questions = ({ asked }: { asked: readonly AskedModel[] }) => asked.map(({ user }) => user)

  it.each(
    selectCases([
      ['judge:before', 1],
      ['judge:recorded', 1],
      ['judge:recorded', 2],
      ['measure:before-report', 1],
    ]),
  )(
    'at %s, time %d, repeats no question and no measurement',
    async (where, time) => {
      let reached = 0
      let cut = false
      const fault = (point: string) => {
        if (point !== where || cut || ++reached < time) return
        cut = true
        throw new Error('cut off')
      }
      const site = await createJudgedRepository({ better: answers('good') }, { fault })
      await site.start()
      await expect(site.until(kept)).rejects.toThrow('cut off')
      await site.reopen()
      await site.until(kept)
      expect(new Set(questions(site.server)).size).toBe(site.server.asked.length)
      expect(await site.kinds()).not.toContain('order-lost')
      await site.proven()
    },
    120_000,
  )

  it('continues with the same order after its model was unreachable', async () => {
    let known = false
    const site = await createJudgedRepository(
      { better: answers('good') },
      { reply: asked => (known ? scoresByWord(asked) : { status: 401 }) },
    )
    await site.start()
    await expect(site.until(kept)).rejects.toThrow(UserError)
    await site.reopen()
    await expect(site.until(kept)).rejects.toThrow('no model could be asked to judge: 127.0.0.1')
    known = true
    await site.reopen()
    await site.until(kept)
    expect(await site.kinds()).not.toContain('order-lost')
    await site.proven()
  }, 120_000)

  releaseTest(
    'without an address names the variable, and measures nothing again',
    async () => {
      const site = await createJudgedRepository({ better: answers('good') }, { env: {} })
      await site.start()
      await expect(site.until(kept)).rejects.toThrow('no address of a model is set')
    },
    120_000,
  )
})
