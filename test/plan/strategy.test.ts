import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Campaign, Landing } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { type Outcome, outcomeSchema, toVerdictWord } from '../../src/model/verdict.ts'
import { formatAdvice, summarizeCategories } from '../../src/plan/backlog.ts'
import { anExperiment } from '../ideas/incumbent.ts'

type Tried = [category: string, outcome: Outcome | null, more?: Partial<Experiment>]

function campaign(...tried: readonly Tried[]): Pick<Campaign, 'experiments' | 'landings'> {
  const all = tried.map(([category, ended, more], index) =>
    anExperiment(index + 1, {
      category,
      outcome: ended,
      verdict: ended === null ? null : toVerdictWord(ended, false),
      status: ended === null ? 'queued' : 'ended',
      ...more,
    }),
  )
  const kept = all.filter(({ verdict }) => verdict === 'kept')
  return {
    experiments: Object.fromEntries(all.map(each => [each.id, each])),
    landings: kept.map(({ id }) => ({ experiment: id, reverted: null }) as Landing),
  }
}

const told = (...tried: readonly Tried[]) =>
  summarizeCategories(campaign(...tried)).map(each => `${each.category}: ${formatAdvice(each)}`)

describe('what to try next', () => {
  it('puts first what was kept, then what is not settled, then what was tried in vain', () => {
    expect(
      told(
        ['layout', 'dropped'],
        ['layout', 'degenerate'],
        ['layout', 'dropped'],
        ['syntax', 'kept'],
        ['syntax', 'dropped'],
        ['caching', 'inconclusive'],
        ['threads', 'dropped'],
        ['threads', null],
        ['io', null],
      ),
    ).toEqual([
      'syntax: 1 of 2 kept: more ideas of this kind may help',
      'caching: 1 tried, 1 not proven: a larger gain of this kind could be proven',
      'threads: 1 tried, none kept, 1 under way: too few to tell',
      'io: not tried yet, 1 under way',
      'layout: 3 tried, none kept, 1 broke: avoid it without a new reason',
    ])
  })

  it('takes gains that were not taken for what they are: three of them are no reason to leave a kind', () => {
    expect(
      told(['loops', 'not_selected'], ['loops', 'runner_up_dropped'], ['loops', 'not_selected']),
    ).toEqual(['loops: 0 of 3 kept, 3 better alone but not kept: more ideas of this kind may help'])
  })

  it('counts nothing as kept that was reverted', () => {
    const undone = campaign(['syntax', 'kept'])
    const [landing] = undone.landings
    if (landing) landing.reverted = 'f'.repeat(40)
    expect(summarizeCategories(undone)).toMatchObject([{ kept: 0, tried: 1, next: 'open' }])
  })

  it('learns nothing of a kind from what was refused, withdrawn, or is no idea', () => {
    expect(told(['a', 'refused'], ['a', 'withdrawn'], ['b', 'dropped', { purpose: 'revert' }])).toEqual([])
  })

  it('has what was learned, the newest first', () => {
    const [standing] = summarizeCategories(
      campaign(
        ['io', 'dropped', { learnings: 'reads are small' }],
        ['io', 'dropped', { learnings: ' ' }],
        ['io', null, { learnings: 'writes are batched' }],
      ),
    )
    expect(standing?.learned.map(({ text }) => text)).toEqual(['writes are batched', 'reads are small'])
  })

  it('counts every idea once, whatever became of it', () => {
    const one = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.constantFrom(...outcomeSchema.options)))
    fc.assert(
      fc.property(fc.array(one, { maxLength: 20 }), tried => {
        const silent = tried.filter(([, ended]) => ended === 'refused' || ended === 'withdrawn').length
        const all = summarizeCategories(campaign(...tried))
        const counted = all.reduce((sum, each) => sum + each.tried + each.open, 0)
        expect(counted).toBe(tried.length - silent)
        for (const each of all)
          expect(each.kept + each.unproven + each.broken).toBeLessThanOrEqual(each.tried)
      }),
    )
  })
})
