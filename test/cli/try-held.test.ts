import { describe, expect, it } from 'vitest'
import { describeOpenRound } from '../../src/cli/try.ts'
import { campaignOf, opened } from '../report/campaign-of.ts'

const OWN = 'optimize-exp/size/exp-001'

function during(...members: string[]) {
  const { experiments } = campaignOf(opened(1), opened(2))
  const round = { number: 3, members, winner: null, combined: [], combination_failed: false, open: true }
  return { experiments, round }
}

describe('the open round before an idea of winnow try', () => {
  it('is named, because it finishes first', () => {
    expect(describeOpenRound(during('exp-002'), OWN)).toBe(
      `round 3 is running (exp-002): ${OWN} is measured after it`,
    )
    expect(describeOpenRound(during('exp-001', 'exp-002'), OWN)).toContain('(exp-002)')
  })

  it('is not named if it has only this idea, or if no round is open', () => {
    expect(describeOpenRound(during('exp-001'), OWN)).toBeNull()
    const { experiments, round } = during('exp-002')
    expect(describeOpenRound({ experiments, round: { ...round, open: false } }, OWN)).toBeNull()
    expect(describeOpenRound({ experiments, round: null }, OWN)).toBeNull()
  })
})
