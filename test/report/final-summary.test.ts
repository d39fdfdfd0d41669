import { describe, expect, it } from 'vitest'
import type { Campaign } from '../../src/model/campaign.ts'
import { addExperiment } from '../../src/model/experiment.ts'
import { renderFinalSummary } from '../../src/report/run-summary.ts'
import { buildCampaignResult, buildStatusView } from '../../src/report/status.ts'
import {
  baseline,
  calibrated,
  campaignOf,
  decided,
  LANDS,
  NEXT,
  NOISE,
  opened,
  POINT,
  REVERTED,
  REVERTED_POINTS,
  type Told,
} from './campaign-of.ts'

const HERE = { prefix: 'optimize', remote: null }
const dropped = { outcome: 'dropped', verdict: 'no gain', reason: 'bytes 100 -> 100 (0.0 %)' } as const
const WANTS_PACKAGE: Told = {
  kind: 'approval-requested',
  experiment: 'exp-003',
  digest: '1'.repeat(64),
  packages: ['left-pad'],
  additions: [],
  why: '',
}
const STOPPED: Told = { kind: 'campaign-stopped', code: 'person', reason: 'enough' }
const EFFECT: Told<'effect-measured'> = {
  kind: 'effect-measured',
  what: 'landing',
  experiment: 'exp-001',
  order: '1'.repeat(64),
  metric: 'bytes',
  scale: 'log',
  from: POINT,
  to: NEXT,
  state: null,
  reason: '',
  effect: 0.1,
  interval: [0.05, 0.15],
  pairs: 8,
}
const PROGRESS = { by: 'tested', metric: 'bytes', change: Math.exp(-0.1) - 1 }
const MEASURED = { effect: 0.1, interval: [0.05, 0.15], pairs: 8, scale: 'log' }

/** One kept, one dropped, one that waits for a package. */
function ended(...more: Told[]): Campaign {
  return campaignOf(
    baseline(100),
    opened(1, { hypothesis: 'shorter names' }),
    opened(2),
    opened(3, { required_deps: ['left-pad'] }),
    WANTS_PACKAGE,
    decided(1),
    ...LANDS,
    decided(2, dropped),
    ...more,
  )
}

describe('the end of a run', () => {
  it('separates waiting from working time', () => {
    const campaign = ended(STOPPED)
    campaign.updated_at = '2026-01-02T03:46:06.000Z'
    campaign.waited_seconds = 600
    const took = renderFinalSummary(campaign, HERE).filter(line => line.startsWith('  took'))
    expect(took).toEqual([
      expect.stringMatching(
        /^  took +32:01 since the campaign began, plus 10:00 waiting for other processes, /,
      ),
    ])
    expect(buildCampaignResult(campaign)).toMatchObject({ duration_seconds: 2521, waited_seconds: 600 })
  })

  it('shows results, cost, waiting experiments and next commands', () => {
    const campaign = ended(STOPPED)
    campaign.updated_at = '2026-01-02T03:46:06.000Z'
    campaign.spent = { minutes: 41.6, executions: 120, requests: 3, tokens: 9, usd: 0.25, usd_for: {} }
    expect(renderFinalSummary(campaign, HERE)).toEqual([
      '',
      '  verdicts  1 kept, 1 no gain, 1 waiting',
      '  kept      exp-001  bytes 100 -> 90 (-10.0 %), deterministic (shorter names)',
      '  waiting   exp-003 is waiting for approval of left-pad: winnow approve exp-003',
      '  took      42:01 since the campaign began, 120 executions in 41:36, 0.25 USD for models',
      '  next      winnow status                         every experiment',
      '            winnow show exp-001                   its evidence',
      '            winnow audit                          verify from git that everything was measured',
      '            git diff aaaaaaaaaaaa..optimize/size  what changed',
      '            git merge optimize/size               merge it',
      '            winnow archive                        archive the campaign',
    ])
  })

  it('names the branch on the remote, and how to fetch it', () => {
    const text = renderFinalSummary(ended(), { prefix: 'tuned', remote: 'upstream' }).join('\n')
    expect(text).toContain('git fetch upstream && git diff aaaaaaaaaaaa..upstream/tuned/size')
    expect(text).toContain('git merge upstream/tuned/size')
    expect(text).toContain('winnow stop ')
  })

  it('offers no merge without kept changes, and no verdicts without experiments', () => {
    const lost = renderFinalSummary(campaignOf(baseline(100), opened(1), decided(1, dropped)), HERE).join(
      '\n',
    )
    expect(lost).not.toMatch(/git merge|winnow audit|^ {2}kept/m)
    expect(lost).toContain('winnow show exp-001')
    const empty = renderFinalSummary(campaignOf(baseline(100)), HERE).join('\n')
    expect(empty).not.toMatch(/verdicts|winnow show/)
    expect(empty).toContain('winnow try -m')
  })

  it('offers no merge when the default branch has the changes', () => {
    const all: Told[] = [
      {
        kind: 'synced',
        order: '1'.repeat(64),
        from: NEXT,
        to: NEXT,
        default_tip: NEXT.commit,
        default_tree: NEXT.tree,
        holds: ['exp-001'],
        harness: 'f'.repeat(64),
      },
    ]
    expect(renderFinalSummary(ended(...all), HERE).join('\n')).not.toMatch(/git merge|git diff/)
  })

  it('suggests continuing when an experiment waits for approval', () => {
    const paused: Told = { kind: 'campaign-paused', source: 'person', reason: 'lunch' }
    const text = renderFinalSummary(campaignOf(baseline(100), paused), HERE).join('\n')
    expect(text).toContain('winnow resume')
    expect(text).not.toContain('winnow try')
  })

  it('lists at most five, and counts the rest', () => {
    const campaign = ended()
    const [first] = campaign.landings
    for (let number = 4; number < 12; number += 1) {
      const id = `exp-${String(number).padStart(3, '0')}`
      const kept = campaign.experiments['exp-001']
      if (kept === undefined || first === undefined) throw new Error('nothing is kept')
      addExperiment(campaign, { ...kept, id, number })
      campaign.landings.push({ ...first, experiment: id })
    }
    const lines = renderFinalSummary(campaign, HERE)
    expect(lines.filter(line => line.includes('shorter names'))).toHaveLength(5)
    expect(lines).toContain('            and 4 more')
  })
})

describe('the result of a campaign as JSON', () => {
  it('is part of status --json, with reported effects', () => {
    const test: Told = { ...EFFECT, what: 'progression', experiment: null }
    const view = buildStatusView(ended(calibrated(NOISE), EFFECT, test), new Map())
    expect(view).toMatchObject({
      started_at: '2026-01-02T03:04:05.000Z',
      duration_seconds: 0,
      verdicts: { kept: 1, 'no gain': 1, waiting: 1, refused: 0, reverted: 0 },
      progress: { ...MEASURED, ...PROGRESS, change: expect.closeTo(PROGRESS.change) },
      improvements: [{ id: 'exp-001', hypothesis: 'shorter names', effect: MEASURED, selected_by: 10 }],
      deferred: [{ id: 'exp-003', packages: ['left-pad'], approve: 'winnow approve exp-003' }],
      spent: { minutes: 0, executions: 0, usd: 0 },
    })
    expect(view.experiments.map(({ effect }) => effect)).toEqual([MEASURED, null, null])
  })

  it('claims no progress and no effect of reverted changes', () => {
    const test: Told = { ...EFFECT, what: 'progression', experiment: null }
    const campaign = ended(test, REVERTED, { ...REVERTED_POINTS, kind: 'incumbent-moved', why: 'reverted' })
    const result = buildCampaignResult(campaign)
    expect(result).toMatchObject({ improvements: [], progress: { by: 'nothing kept', effect: null } })
    expect(result.verdicts).toMatchObject({ kept: 0, reverted: 1 })
  })
})
