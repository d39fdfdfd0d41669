import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { answers, SAMPLE, createJudgedRepository } from '../support/judged-repository.ts'

const kept = ({ landings }: Campaign) => landings.length > 0

function measuredIn(events: readonly LedgerEvent[]): LedgerEvent<'measured'>[] {
  return events.filter((event): event is LedgerEvent<'measured'> => event.kind === 'measured')
}

describe('a campaign that a model judges', () => {
  it('keeps only better answers, and the ledger alone proves it', async () => {
    const site = await createJudgedRepository({ better: answers('good'), worse: answers('bad') })
    await site.start()
    expect(await site.run()).toMatchObject({ for: 'nothing' })
    expect(await site.outcomes()).toEqual({ better: 'kept', worse: 'dropped' })
    expect(await site.reasonOf('better')).toMatch(
      /quality 2 higher.+\n.+ 24 items in 2 samples, each scored on both sides$/,
    )
    const { landings, progression, spent } = await site.campaign()
    expect(landings).toHaveLength(1)
    expect(landings[0]?.effect).toMatchObject({ effect: expect.closeTo(2) })
    expect(progression).toMatchObject({ effect: expect.closeTo(2) })
    await site.proven()

    const events = await site.events()
    const { asked } = site.server
    expect(spent.requests).toBe(asked.length)
    expect(spent.usd).toBeCloseTo((asked.length * (10 + 5 * 5)) / 1_000_000)
    const told = JSON.stringify(events)
    expect(told).not.toContain('sk-of-the-judge')
    const [experiment] = measuredIn(events).filter(({ report }) => report.trees['exp-001'] !== undefined)
    const items = experiment?.report.executions.map(({ tasks }) => Object.keys(tasks ?? {})).flat()
    expect(items).toHaveLength(2 * SAMPLE)
    expect(new Set(items).size).toBe(SAMPLE)
  }, 120_000)

  it('hides the sides from its judge, and asks once about an item that both sides print', async () => {
    const site = await createJudgedRepository({ better: answers('poor', 'good', 4) })
    await site.start()
    await site.until(kept)
    for (const { system, user, authorization } of site.server.asked) {
      expect(authorization).toBe('Bearer sk-of-the-judge')
      expect(`${system}${user}`).not.toMatch(/\bbase\b|candidate|exp-\d|incumbent|twin|q\d/)
    }
    // In jobs of the base against itself nothing differs, in those of the idea 10 of 12 items do.
    for (const { order, report } of measuredIn(await site.events())) {
      const { judging, executions } = report
      expect([order, judging?.requests]).toEqual([order, report.trees['base-copy'] === undefined ? 5 : 3])
      expect(executions).toHaveLength(2 * SAMPLE)
    }
  }, 120_000)
})
