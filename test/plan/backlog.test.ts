import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type BacklogIdea, createEmptyCampaign } from '../../src/model/campaign.ts'
import type { Experiment } from '../../src/model/experiment.ts'
import { formatIdeaName } from '../../src/model/fold/proposers.ts'
import { closeFinishedIdeas, selectNextIdea, listOpenIdeas } from '../../src/plan/backlog.ts'
import { anIdea } from './an-idea.ts'

function campaignOf(backlog: BacklogIdea[], experiments: Record<string, Partial<Experiment>> = {}) {
  return { ...createEmptyCampaign(), backlog, experiments: experiments as Record<string, Experiment> }
}

const RANK = { high: 0, medium: 1, low: 2 }
const ideas = fc
  .array(
    fc.record({
      category: fc.constantFrom('a', 'b', 'c', 'd'),
      priority: fc.constantFrom('high' as const, 'medium' as const, 'low' as const),
      status: fc.constantFrom('open' as const, 'open' as const, 'tried' as const, 'dropped' as const),
      experiment: fc.constantFrom(null, null, 'exp-001'),
    }),
    { maxLength: 12 },
  )
  .map(all => all.map((told, index) => anIdea(index + 1, told)))

describe('the backlog as it is handed out', () => {
  it('has every open idea that nobody has, once, whatever order it is read in', () => {
    fc.assert(
      fc.property(ideas, fc.infiniteStream(fc.nat()), (backlog, random) => {
        const free = backlog.filter(({ status, experiment }) => status === 'open' && experiment === null)
        const given = listOpenIdeas(campaignOf(backlog))
        expect(given.toSorted((a, b) => a.number - b.number)).toEqual(free)
        const shuffled = backlog
          .map(idea => ({ idea, at: random.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ idea }) => idea)
        expect(listOpenIdeas(campaignOf(shuffled))).toEqual(given)
      }),
    )
  })

  it('begins with the best of each category, by priority and then by age', () => {
    fc.assert(
      fc.property(ideas, backlog => {
        const given = listOpenIdeas(campaignOf(backlog))
        const categories = new Set(given.map(({ category }) => category)).size
        const before = (a: BacklogIdea, b: BacklogIdea) =>
          RANK[a.priority] - RANK[b.priority] || a.number - b.number
        expect(new Set(given.slice(0, categories).map(({ category }) => category)).size).toBe(categories)
        for (const part of [given.slice(0, categories), given.slice(categories)])
          expect(part.toSorted(before)).toEqual(part)
        for (const leader of given.slice(0, categories))
          for (const other of given)
            if (other.category === leader.category) expect(before(leader, other)).toBeLessThanOrEqual(0)
      }),
    )
  })

  it('hands an idea to other programs alone once two answers of one program were refused', () => {
    const idea = anIdea(1)
    const refusedAnswers = (...who: string[]) =>
      Object.fromEntries(
        who.map((name, at) => {
          const id = `exp-00${at + 1}`
          const source = { use: 'command', key: `command:${name}:${at}` }
          const about = { id, source, carries: idea.id, outcome: 'refused', measured_tree: null }
          return [id, about as Partial<Experiment>]
        }),
      )
    const next = (who: string, answers: readonly string[]) => {
      const fresh = { failures: 0, disabled: false, asked: 0, since_kept: null }
      const campaign = campaignOf([idea], refusedAnswers(...answers))
      const proposers = { claude: fresh, codex: fresh }
      return selectNextIdea({ ...campaign, proposers }, { who, handed: new Set() })?.id ?? null
    }
    expect(next('claude', ['claude', 'codex'])).toBe(idea.id)
    expect(next('claude', ['claude', 'codex', 'claude'])).toBeNull()
    expect(next('codex', ['claude', 'codex', 'claude'])).toBe(idea.id)
  })

  it('gives one idea to one asking, until none is left', () => {
    fc.assert(
      fc.property(ideas, backlog => {
        const handed = new Set<string>()
        const order: string[] = []
        const campaign = campaignOf(backlog)
        const asking = { who: 'claude', handed }
        for (let next = selectNextIdea(campaign, asking); next; next = selectNextIdea(campaign, asking)) {
          handed.add(next.id)
          order.push(formatIdeaName(next))
        }
        expect(order).toEqual(listOpenIdeas(campaign).map(formatIdeaName))
      }),
    )
  })
})

describe('an idea ends with its experiment', () => {
  const over = {
    id: 'exp-001',
    opened: 'opened-1',
    status: 'ended',
    closed: true,
    outcome: 'dropped',
    verdict: 'no gain',
    reason: 'bytes 100 -> 100\nevidence nothing',
    learnings: null,
  } as const
  const carried = anIdea(1, { experiment: 'exp-001' })

  it('with its outcome, and what was learned or else its verdict', () => {
    const drafts = (experiment: Partial<Experiment>) =>
      closeFinishedIdeas({ campaign: campaignOf([carried], { 'exp-001': experiment }) })
    expect(drafts(over)).toEqual([
      {
        step: 'event',
        draft: {
          kind: 'hypothesis-updated',
          cause: 'opened-1',
          hypothesis: 'event-1',
          status: 'tried',
          experiment: 'exp-001',
          outcome: 'dropped',
          learnings: 'no gain: bytes 100 -> 100',
        },
      },
    ])
    expect(drafts({ ...over, learnings: 'the cache is cold' })).toMatchObject([
      { draft: { learnings: 'the cache is cold' } },
    ])
  })

  it('is open again where the experiment was withdrawn, or refused before it was measured', () => {
    const refused = { outcome: 'refused', verdict: 'refused', reason: 'the same files as exp-004' } as const
    for (const end of [{ outcome: 'withdrawn' as const }, { ...refused, measured_tree: null }]) {
      const campaign = campaignOf([carried], { 'exp-001': { ...over, ...end } })
      expect(closeFinishedIdeas({ campaign })).toMatchObject([
        { draft: { status: 'open', experiment: null, outcome: null, learnings: null } },
      ])
    }
    const measured = campaignOf([carried], { 'exp-001': { ...over, ...refused, measured_tree: 'tree' } })
    expect(closeFinishedIdeas({ campaign: measured })).toMatchObject([{ draft: { status: 'tried' } }])
  })

  it('and not before: neither while it runs, nor twice, nor when it was dropped', () => {
    for (const experiment of [
      { ...over, status: 'ordered' as const },
      { ...over, closed: false },
    ])
      expect(closeFinishedIdeas({ campaign: campaignOf([carried], { 'exp-001': experiment }) })).toEqual([])
    for (const status of ['tried', 'dropped'] as const)
      expect(
        closeFinishedIdeas({ campaign: campaignOf([{ ...carried, status }], { 'exp-001': over }) }),
      ).toEqual([])
  })
})
