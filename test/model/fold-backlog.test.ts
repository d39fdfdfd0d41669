import { describe, expect, it } from 'vitest'
import { createEmptyCampaign } from '../../src/model/campaign.ts'
import type { LedgerEvent } from '../../src/model/event.ts'
import { backlogHandlers, formatIdeaName, markIdeaTried } from '../../src/model/fold/proposers.ts'

const [A, B] = ['a'.repeat(64), 'b'.repeat(64)]

function added(id: string, hypothesis: string) {
  const told = {
    category: 'general',
    priority: 'low',
    required_deps: [],
    family: null,
    source: 'ada',
  } as const
  return { id, hypothesis, ...told } as unknown as LedgerEvent<'hypothesis-added'>
}

function updated(hypothesis: string, status: 'open' | 'tried' | 'dropped', learnings: string | null = null) {
  const about = { hypothesis, status, experiment: null, outcome: null, learnings }
  return about as unknown as LedgerEvent<'hypothesis-updated'>
}

function backlog() {
  const campaign = createEmptyCampaign()
  backlogHandlers['hypothesis-added'](campaign, added(A, 'first'))
  backlogHandlers['hypothesis-added'](campaign, added(B, 'second'))
  return campaign
}

describe('the backlog of a campaign', () => {
  it('numbers ideas by their position in the ledger', () => {
    expect(backlog().backlog.map(idea => [formatIdeaName(idea), idea.id, idea.status])).toEqual([
      ['idea-001', A, 'open'],
      ['idea-002', B, 'open'],
    ])
    expect(formatIdeaName({ number: 1234 })).toBe('idea-1234')
  })

  it('names the experiment that carries an idea out', () => {
    const campaign = backlog()
    const opened = { carries: B, experiment: 'exp-004' } as LedgerEvent<'experiment-opened'>
    markIdeaTried(campaign, opened)
    markIdeaTried(campaign, { experiment: 'exp-005' } as LedgerEvent<'experiment-opened'>)
    expect(campaign.backlog.map(({ experiment }) => experiment)).toEqual([null, 'exp-004'])
  })

  it('uses the latest update, but a tried idea stays tried', () => {
    const campaign = backlog()
    const update = backlogHandlers['hypothesis-updated']
    update(campaign, updated(A, 'dropped', 'vague'))
    update(campaign, updated(B, 'tried', 'it helped'))
    update(campaign, updated(B, 'dropped'))
    update(campaign, updated('c'.repeat(64), 'dropped'))
    expect(campaign.backlog.map(({ status, learnings }) => [status, learnings])).toEqual([
      ['dropped', 'vague'],
      ['tried', 'it helped'],
    ])
  })
})
