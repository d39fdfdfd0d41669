import { describe, expect, it } from 'vitest'
import { describeUnisolated } from '../../src/model/reach.ts'
import { verdictWordSchema } from '../../src/model/verdict.ts'
import { renderCampaignPullBody } from '../../src/report/campaign-pull-request.ts'
import { renderPullBody } from '../../src/report/pull-request.ts'
import { renderDigest, renderLedgerReadme } from '../../src/report/ledger-views.ts'
import { renderFinalSummary, renderRunSummary } from '../../src/report/run-summary.ts'
import { computeProgress } from '../../src/decide/progress.ts'
import { buildStatusView, renderStatus } from '../../src/report/status.ts'
import { getCampaignSpec } from '../../src/spec/load.ts'
import {
  baseline,
  calibrated,
  campaignOf,
  decided,
  NEXT,
  NOISE,
  LANDS,
  opened,
  POINT,
  refused,
  REVERTED,
  type Told,
  withBytes,
} from './campaign-of.ts'

const NONE = new Map<string, number>()

const LANDED = [
  baseline(100),
  opened(1, { hypothesis: 'shorter' }),
  opened(2),
  decided(1),
  ...LANDS,
  baseline(90, NEXT.tree),
] as const satisfies readonly Told[]

function landed() {
  return withBytes(campaignOf(...LANDED), [100, 90])
}

describe('status --json', () => {
  it('has exactly the promised keys', () => {
    const view = buildStatusView(landed(), NONE)
    const result = [
      'started_at',
      'duration_seconds',
      'waited_seconds',
      'verdicts',
      'progress',
      'improvements',
      'deferred',
      'spent',
    ]
    expect(Object.keys(view)).toEqual([
      'campaign',
      'state',
      'guard',
      'unisolated',
      'state_reason',
      'to_go_on',
      'notes',
      'alerts',
      'baseline',
      'incumbent',
      ...result,
      'experiments',
      'picks',
    ])
    expect(Object.keys(view.experiments[0] ?? {}).toSorted()).toEqual(
      ['branch', 'effect', 'hypothesis', 'id', 'metrics', 'outcome', 'pr', 'reason', 'verdict'].toSorted(),
    )
  })

  it('shows baseline and incumbent with their numbers', () => {
    const { baseline: before, incumbent, state } = buildStatusView(landed(), NONE)
    expect([before, incumbent]).toEqual([
      { ...POINT, metrics: { bytes: 100 } },
      { ...NEXT, metrics: { bytes: 90 } },
    ])
    expect(state).toBe('running')
  })

  it('counts experiments by displayed word', () => {
    const { verdicts } = buildStatusView(landed(), NONE)
    expect(Object.keys(verdicts)).toEqual([...verdictWordSchema.options, 'waiting', 'reverted', 'reverts'])
    expect(verdicts).toMatchObject({ kept: 1, 'no gain': 0, waiting: 1 })
  })

  it('shows what an open experiment waits for, without an outcome', () => {
    const [kept, open] = buildStatusView(landed(), new Map([['optimize-exp/size/exp-002', 9]])).experiments
    expect([kept?.verdict, kept?.outcome, kept?.pr]).toEqual(['kept', 'kept', 7])
    expect([open?.verdict, open?.outcome, open?.reason, open?.pr]).toEqual([
      'waiting for a runner',
      null,
      null,
      9,
    ])
  })

  it('splits the cost of models by purpose, where there is any', () => {
    const campaign = landed()
    expect(buildStatusView(campaign, NONE).spent).not.toHaveProperty('usd_for')
    campaign.spent = { ...campaign.spent, usd: 2, usd_for: { judge: 2, propose: 0 } }
    expect(buildStatusView(campaign, NONE).spent).toMatchObject({ usd: 2, usd_for: { judge: 2 } })
  })

  it('shows an unusable number as missing', () => {
    expect(buildStatusView(campaignOf(baseline(null)), NONE).baseline.metrics).toEqual({ bytes: null })
    expect(buildStatusView(campaignOf(baseline('12')), NONE).baseline.metrics).toEqual({ bytes: null })
  })
})

describe('a lack of isolation', () => {
  const unisolated = describeUnisolated({ flags: ['unisolated'], reach: ['files', 'network', 'memory'] })
  const named = expect.stringMatching(/[Nn]ot isolated: both sides ran as one user, so one could reach/)

  it('is one line of the status, and no line where each side has a user of its own', () => {
    const [isolated, shared] = [landed(), { ...landed(), unisolated }]
    expect(renderStatus(shared, buildStatusView(shared, NONE))).toContainEqual(named)
    expect(renderStatus(isolated, buildStatusView(isolated, NONE))).not.toContainEqual(named)
    expect(renderCampaignPullBody(shared)).toContain(' · measured without isolation · ')
    expect(renderCampaignPullBody(isolated)).not.toContain('isolation')
  })

  it('is a sentence in the pull request of a kept change', () => {
    const shared = campaignOf(
      ...LANDED.map(told => (told.kind === 'decided' ? { ...told, warnings: [unisolated ?? ''] } : told)),
    )
    const body = (campaign: typeof shared) =>
      renderPullBody(campaign, campaign.experiments['exp-001'] ?? expect.fail('no experiment'))
    expect(body(shared)).toEqual(named)
    expect(body(landed())).not.toEqual(named)
  })
})

describe('a reverted change', () => {
  it('is shown as reverted, and not counted as kept', () => {
    const campaign = campaignOf(...LANDED, REVERTED)
    const view = buildStatusView(campaign, NONE)
    expect(view.experiments[0]).toMatchObject({ outcome: 'kept', verdict: 'kept, then reverted' })
    expect([view.verdicts.kept, view.verdicts.reverted]).toEqual([0, 1])
    const lines = renderStatus(campaign, view)
    expect(lines).toContain('  2 experiments: 1 waiting, 1 kept, then reverted')
    expect(lines).toContainEqual(expect.stringContaining('Kept, then reverted: bytes 100 -> 90'))
    expect(renderRunSummary(campaign, { for: 'ideas' })[1]).toContain(
      '2 experiments: 1 waiting, 1 kept, then reverted',
    )
    expect(renderLedgerReadme(campaign)).toContain('| exp-001 | kept, then reverted |')
  })
})

describe('the count of a campaign', () => {
  it('is the same in every view', () => {
    const campaign = campaignOf(...LANDED, opened(3), refused('exp-003'))
    const tally = '3 experiments: 1 kept, 1 refused, 1 waiting'
    expect(campaign.ended).toBe(1)
    expect(renderLedgerReadme(campaign)).toContain(`${tally}.`)
    const spec = getCampaignSpec(campaign)
    expect(renderDigest(campaign, spec, computeProgress(campaign, spec))).toContain(`${tally};`)
    expect(renderCampaignPullBody(campaign)).toContain('### 1 change kept\n1 of 3 ideas kept · ')
    expect(renderStatus(campaign, buildStatusView(campaign, NONE))).toContain(`  ${tally}`)
    expect(renderFinalSummary(campaign, { prefix: 'optimize', remote: null }).join('\n')).toContain(
      '1 kept, 1 refused, 1 waiting',
    )
    expect(renderRunSummary(campaign, { for: 'ideas' })[1]).toContain(`size: ${tally};`)
  })
})

describe('the branch of an experiment', () => {
  it('is missing when the experiment was refused before it was pushed', () => {
    expect(buildStatusView(campaignOf(opened(1), refused('exp-001')), NONE).experiments[0]?.branch).toBeNull()
  })

  it('is present with a pull request, or when a person pushed it', () => {
    const shown = new Map([['optimize-exp/size/exp-001', 4]])
    expect(buildStatusView(campaignOf(opened(1), refused('exp-001')), shown).experiments[0]?.branch).toMatch(
      /exp-001$/,
    )
    const theirs = opened(1, { owned: false, branch: 'optimize-exp/size/mine' })
    expect(buildStatusView(campaignOf(theirs, refused('exp-001')), NONE).experiments[0]?.branch).toMatch(
      /mine$/,
    )
  })
})

describe('status for people', () => {
  it('starts every experiment with its verdict', () => {
    const campaign = landed()
    expect(renderStatus(campaign, buildStatusView(campaign, NONE, ['not noise-proof']))).toEqual([
      'Campaign size (the harness is not probed): running',
      '  progress: bytes 100 -> 90 (-10.0 %)',
      '  baseline   aaaaaaaaaaaa  bytes 100',
      '  incumbent  cccccccccccc  bytes 90',
      '  2 experiments: 1 kept, 1 waiting',
      '  note: not noise-proof',
      '',
      'exp-001  #7  Kept: bytes 100 -> 90 (-10.0 %), deterministic  Shorter',
      'exp-002      Waiting for a runner.                           Idea 2',
    ])
  })

  it('describes the calibration of a noisy metric in one line', () => {
    const shown = (noise: Parameters<typeof calibrated>[0]) => {
      const campaign = campaignOf(calibrated(noise))
      return renderStatus(campaign, buildStatusView(campaign, NONE)).filter(line =>
        line.includes('calibration'),
      )
    }
    expect(shown(NOISE)).toEqual([
      '  calibration: noisy, pairs of the base with itself differ by 3.0 % (at most 4.5 %, 16 pairs in 2 jobs), log scale, fair to both sides',
    ])
    expect(shown({ ...NOISE, pair_sd_upper90: null, pairs: 1, jobs: 1 })).toEqual([
      '  calibration: noisy, pairs of the base with itself differ by 3.0 % (1 pair in 1 job), log scale, fair to both sides',
    ])
    expect(shown(null)).toEqual([])
  })

  it('shows why a campaign is paused', () => {
    const campaign = campaignOf({ kind: 'campaign-paused', reason: 'release week', source: 'person' })
    const lines = renderStatus(campaign, buildStatusView(campaign, NONE))
    expect(lines[0]).toBe('Campaign size (the harness is not probed): paused, release week')
    expect(buildStatusView(campaign, NONE)).toMatchObject({ state: 'paused', state_reason: 'release week' })
    expect(buildStatusView(landed(), NONE).state_reason).toBeNull()
    expect(lines).toContain('  0 experiments')
  })

  it('shows the last alerts', () => {
    const alert = (code: string) => ({ kind: 'alert', code, message: 'm', about: null }) as const
    const campaign = campaignOf(alert('one'), alert('two'), alert('three'), alert('four'))
    const lines = renderStatus(campaign, buildStatusView(campaign, NONE))
    expect(lines.filter(line => line.includes('alert'))).toEqual(
      ['two', 'three', 'four'].map(x => `  alert ${x}: m`),
    )
    expect(buildStatusView(campaign, NONE).alerts.map(({ code }) => code)).toEqual([
      'one',
      'two',
      'three',
      'four',
    ])
  })

  it('shows nothing that status --json lacks', () => {
    const stop = { kind: 'campaign-stopped', code: 'max_iterations', reason: 'ten ended' } as const
    const campaign = campaignOf(stop, { kind: 'alert', code: 'one', message: 'm', about: null })
    const view = buildStatusView(campaign, NONE, ['the default branch is gone'])
    expect(view).toMatchObject({ state_reason: 'ten ended', notes: ['the default branch is gone'] })
    const lines = renderStatus(campaign, view)
    expect(view.to_go_on).toMatch(/^raise stopping.max_iterations/)
    for (const said of [view.to_go_on, view.state_reason, ...view.notes, ...view.alerts.map(a => a.message)])
      expect(lines.join('\n')).toContain(said)
  })
})

describe('the end of a run', () => {
  it('shows why it ended, kept changes and the gain since the baseline', () => {
    expect(renderRunSummary(landed(), { for: 'nothing', reason: '1 experiment ended' })).toEqual([
      'Stopped: 1 experiment ended',
      'size: 2 experiments: 1 kept, 1 waiting; the incumbent is cccccccccccc.',
      'Since the baseline: bytes 100 -> 90 (-10.0 %).',
    ])
  })

  it('claims no gain for a tree measured twice', () => {
    const campaign = campaignOf(baseline(100), calibrated(NOISE), baseline(70))
    const { incumbent, baseline: start } = buildStatusView(campaign, NONE)
    expect(incumbent.metrics).toEqual(start.metrics)
    expect(renderRunSummary(campaign, { for: 'ideas' })).toHaveLength(2)
  })

  it('claims no gain from two jobs of a noisy metric', () => {
    const campaign = withBytes(campaignOf(...LANDED, calibrated(NOISE)), [100, 90])
    expect(renderRunSummary(campaign, { for: 'ideas' })[2]).toBe(
      'Since the baseline: 1 change kept, not measured again yet.',
    )
  })

  it('claims no gain before there is a baseline', () => {
    expect(renderRunSummary(campaignOf(), { for: 'ideas' })).toHaveLength(2)
  })
})
