import { describe, expect, it } from 'vitest'
import { computeProgress } from '../../src/decide/progress.ts'
import type { Campaign, Round } from '../../src/model/campaign.ts'
import { renderDigest } from '../../src/report/ledger-views.ts'
import { countRounds, formatRounds } from '../../src/report/rounds.ts'
import { renderSummary } from '../../src/report/summary.ts'
import { renderLiveLine } from '../../src/report/terminal.ts'
import { getCampaignSpec } from '../../src/spec/load.ts'
import { baseline, campaignOf, decided, LANDS, opened, type Told, withBytes } from './campaign-of.ts'

const DROPPED = { outcome: 'dropped', verdict: 'no gain', reason: 'bytes 90 -> 91' } as const

function idea(number: number, category: string): Told<'hypothesis-added'> {
  const about = { priority: 'medium' as const, required_deps: [], family: null, source: 'ada' }
  return { kind: 'hypothesis-added', hypothesis: `thought ${number}`, category, ...about }
}

function withRound(campaign: Campaign, round: Partial<Round>): Campaign {
  const usual = { number: 3, members: ['exp-001', 'exp-002'], winner: null, combined: [] }
  campaign.round = { ...usual, combination_failed: false, open: true, ...round }
  return campaign
}

/** One kept as a runner-up, one dropped with a lesson, one broken, one waiting for a package; ideas wait. */
function tried(...more: Told[]): Campaign {
  const campaign = campaignOf(
    baseline(100),
    opened(1, { hypothesis: 'shorter names', category: 'layout' }),
    opened(2, { hypothesis: 'two passes', category: 'algorithm', learnings: 'the *second* pass is slow' }),
    opened(3, { hypothesis: 'no checks' }),
    opened(4, { hypothesis: 'pad left', required_deps: ['left-pad'] }),
    {
      kind: 'approval-requested',
      experiment: 'exp-004',
      digest: '1'.repeat(64),
      packages: ['left-pad'],
      additions: [],
      why: '',
    },
    decided(1, { outcome: 'runner_up_kept' }),
    ...LANDS,
    decided(2, DROPPED),
    decided(3, { outcome: 'degenerate', verdict: 'broken', reason: 'tests failed' }),
    idea(1, 'caching'),
    idea(2, 'caching'),
    idea(3, 'layout'),
    ...more,
  )
  return withRound(withBytes(campaign, [100, 90]), {})
}

function summary(campaign: Campaign): string {
  const spec = getCampaignSpec(campaign)
  return renderSummary(campaign, spec, computeProgress(campaign, spec))
}

function digest(campaign: Campaign): string {
  const spec = getCampaignSpec(campaign)
  return renderDigest(campaign, spec, computeProgress(campaign, spec))
}

describe('the rounds of a campaign', () => {
  const rounds = (campaign: Campaign) => {
    const found = countRounds(campaign, getCampaignSpec(campaign))
    return found === null ? null : formatRounds(found)
  }

  it('are estimated from what waits', () => {
    expect(rounds(campaignOf())).toBeNull()
    expect(rounds(tried())).toBe('round 3 of about 4')
    const many = Array.from({ length: 10 }, (_, at) => idea(10 + at, 'caching'))
    expect(rounds(tried(...many))).toBe('round 3 of about 7')
  })

  it('have no total where nothing waits, or the campaign has stopped', () => {
    expect(rounds(withRound(campaignOf(baseline(100), opened(1)), { members: ['exp-001'] }))).toBe('round 3')
    expect(rounds(tried({ kind: 'campaign-stopped', code: 'person', reason: 'enough' }))).toBe('round 3')
  })

  it('end at the iterations that are left', () => {
    const campaign = tried(...Array.from({ length: 30 }, (_, at) => idea(10 + at, 'caching')))
    const spec = getCampaignSpec(campaign)
    const stopping = { ...spec.stopping, max_iterations: campaign.ended + 2 + 4 }
    expect(countRounds(campaign, { ...spec, stopping })?.about).toBe(4)
  })

  it('show in the line that a terminal keeps', () => {
    const campaign = tried()
    const progress = computeProgress(campaign, getCampaignSpec(campaign))
    const now = { orders: [], asked: ['claude'], seconds: 5, elsewhere: false }
    expect(renderLiveLine(campaign, progress, now)).toMatch(/^round 3 of about 4: asking claude 0:05, best /)
  })
})

describe('the digest', () => {
  it('says the round, what was learned and what is not tried yet', () => {
    const text = digest(tried())
    expect(text).toContain('\nRound 3 of about 4, with 2 experiments.\n')
    expect(text).toContain('## Learned most recently\n\n- exp-002: the \\*second\\* pass is slow\n')
    expect(text).toContain(
      '## Not tried yet\n\n- caching: 2 ideas, such as idea-001 (medium, caching): thought 1\n',
    )
  })

  it('marks what the latest round taught', () => {
    const campaign = tried()
    const two = campaign.experiments['exp-002']
    if (two) two.round = 3
    expect(digest(campaign)).toContain('- exp-002 (this round): the')
  })

  it('lists standard categories where a campaign uses them', () => {
    expect(digest(tried())).toContain('- embedding: no idea yet\n')
    const own = campaignOf(baseline(100), opened(1, { category: 'layout' }))
    expect(digest(own)).not.toContain('Not tried yet')
  })
})

describe('the summary', () => {
  it('has duration, counts, cost, gains, what is deferred, and what is left', () => {
    const campaign = tried()
    campaign.updated_at = '2026-01-02T06:09:05.000Z'
    Object.assign(campaign.spent, { minutes: 12, executions: 40, usd: 0.25 })
    const deferred = campaign.experiments['exp-004']
    if (deferred) deferred.status = 'deferred'
    expect(summary(campaign)).toBe(`# Summary of size

The campaign is running.

- Duration: 3:05:00, from 2026-01-02T03:04:05.000Z
- Round 3 of about 4
- Experiments: 4
- Kept: 1 (including 1 as runner-up)
- Not kept: 1
- Degenerate (a check failed): 1
- Deferred: 1
- Cost: 40 executions in 12:00, 0.25 USD for models

## Baseline -> final

- bytes 100 -> 90 (-10.0 %)

## Key improvements

1. exp-001: Shorter names (bytes 100 -> 90 (-10.0 %), deterministic)

## Deferred

- exp-004: pad left; waits for left-pad: \`winnow approve exp-004\`

## By category

- layout: 1 of 1 kept: more ideas of this kind may help
- algorithm: 1 tried, none kept: too few to tell
- general: 1 tried, none kept, 1 broke, 1 under way: too few to tell

## Not tried

- caching: 2 ideas
- signal-extraction: no idea yet
- graph-signals: no idea yet
- embedding: no idea yet
- preprocessing: no idea yet
- parameter-tuning: no idea yet
- architecture: no idea yet
- data-handling: no idea yet

## Next steps

- \`winnow status\`: every experiment
- \`winnow show exp-001\`: its evidence
- \`winnow audit\`: verify from git that everything was measured
- \`git diff aaaaaaaaaaaa..optimize/size\`: what changed
- \`git merge optimize/size\`: merge it
- \`winnow stop\`: end the campaign
`)
  })

  it('is there before anything was measured', () => {
    expect(summary(campaignOf())).toContain('- Experiments: 0\n- Kept: 0\n')
  })
})
