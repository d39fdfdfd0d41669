import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import { countVerdicts, renderTally } from '../../src/report/status.ts'
import { anExperiment } from '../ideas/incumbent.ts'
import { FILES, happen, happening, ideas, specs } from '../plan/happenings.ts'
import { Site } from '../plan/plan-site.ts'

function total(campaign: Campaign): number {
  return Object.values(countVerdicts(campaign)).reduce((sum, count) => sum + count, 0)
}

/** The numbers that a person adds up: those after the colon, without what is said of them in brackets. */
function shownSum(campaign: Campaign): number {
  const [, shown = ''] = renderTally(campaign).split(': ')
  const counts = shown.replaceAll(/ \([^)]*\)/g, '').matchAll(/\d+/g)
  return [...counts].reduce((sum, [count]) => sum + Number(count), 0)
}

describe('the count of a campaign', () => {
  it('adds up to the number of experiments for any history', () => {
    fc.assert(
      fc.property(
        specs,
        ideas,
        fc.array(happening, { maxLength: 40, size: 'max' }),
        (spec, proposed, happenings) => {
          const site = new Site({ spec, files: FILES, ideas: proposed })
          for (const [nonce, event] of happenings.entries()) {
            happen(site, event, nonce)
            const opened = Object.keys(site.campaign.experiments).length
            expect([total(site.campaign), shownSum(site.campaign)]).toEqual([opened, opened])
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('has a word for each verdict, and counts changes that were better alone', () => {
    const ended = { status: 'ended', verdict: 'no gain' } as const
    const all = [
      anExperiment(1, { status: 'ended', verdict: 'kept', outcome: 'kept' }),
      anExperiment(2, { status: 'ended', verdict: 'kept', outcome: 'kept' }),
      anExperiment(3, { status: 'ended', verdict: 'kept', outcome: 'revert_landed', purpose: 'revert' }),
      anExperiment(4, { ...ended, outcome: 'not_selected' }),
      anExperiment(5, { ...ended, outcome: 'dropped' }),
      anExperiment(6, { status: 'queued', verdict: 'not proven' }),
    ]
    const landings = [1, 2].map(number => ({
      experiment: `exp-00${number}`,
      reverted: number === 2 ? 'f'.repeat(40) : null,
    }))
    const experiments = Object.fromEntries(all.map(each => [each.id, each]))
    const campaign = { experiments, landings } as unknown as Campaign
    expect(renderTally(campaign)).toBe(
      '6 experiments: 1 kept, 2 no gain (1 better alone), 1 waiting, 1 kept, then reverted, 1 revert',
    )
  })
})
