import { getCampaignSpec } from '../../src/spec/load.ts'
import { describe, expect, it } from 'vitest'
import { formatProgress } from '../../src/decide/progress.ts'
import type { Campaign } from '../../src/model/campaign.ts'
import { renderExperiment } from '../../src/report/experiment.ts'
import { renderDigest, renderLedgerReadme } from '../../src/report/ledger-views.ts'
import { describeReportedEffect } from '../../src/report/verdict-text.ts'
import { renderCampaignPullBody, renderCampaignPullTitle } from '../../src/report/campaign-pull-request.ts'
import { renderRunSummary } from '../../src/report/run-summary.ts'
import { buildStatusView, computeCampaignProgress, renderStatus } from '../../src/report/status.ts'
import { campaignOf, decided, NEXT, opened, POINT, type Told, LANDS } from './campaign-of.ts'

const NUMBERS = {
  order: '1'.repeat(64),
  metric: 'bytes',
  scale: 'log',
  from: POINT,
  to: NEXT,
  state: null,
  reason: '',
} as const
const LANDING: Told = {
  kind: 'effect-measured',
  what: 'landing',
  experiment: 'exp-001',
  effect: -Math.log(0.97),
  interval: [-Math.log(0.99), -Math.log(0.95)],
  pairs: 8,
  ...NUMBERS,
}
const PROGRESS: Told = {
  ...LANDING,
  what: 'progression',
  experiment: null,
  effect: -Math.log(0.96),
  pairs: 64,
}
const LINE = 'bytes 4.0 % lower (1.0 to 5.0 %) than aaaaaaaaaaaa, 64 pairs'

/** A landing that pairs proved: it has taken its share of the campaign's level. */
function landed(...more: Told[]): Campaign {
  const campaign = campaignOf(
    opened(1, { hypothesis: 'shorter' }),
    decided(1, { primary_delta: -Math.log(0.92), reason: 'probably 8.0 % lower' }),
    ...LANDS,
    ...more,
  )
  const experiment = campaign.experiments['exp-001']
  if (experiment) experiment.alpha_share = 0.01
  campaign.calibration = {
    order: '2'.repeat(64),
    deterministic: false,
    scale: 'log',
    reason: '',
    noise: null,
  }
  return campaign
}

describe('the progress of a noisy campaign', () => {
  const lineOf = (campaign: Campaign) => formatProgress(computeCampaignProgress(campaign))

  it('is the same line in the summary, the status and the front page of the ledger', () => {
    const campaign = landed(LANDING, PROGRESS)
    expect(renderRunSummary(campaign, { for: 'nothing', reason: 'done' })[2]).toBe(
      `Since the baseline: ${LINE}.`,
    )
    expect(renderStatus(campaign, buildStatusView(campaign, new Map()))[1]).toBe(`  progress: ${LINE}`)
    expect(renderLedgerReadme(campaign).split('\n').slice(0, 3)).toEqual([
      '# size',
      '',
      `**Progress: ${LINE}.**`,
    ])
    expect(renderCampaignPullBody(campaign)).toContain(
      '### bytes 4.0 % lower than at the start (1.0 to 5.0 %)\n',
    )
  })

  it('is composed of measured effects before the total is measured', () => {
    expect(lineOf(landed(LANDING))).toBe('bytes 3.0 % lower (1.0 to 5.0 %), 8 pairs')
    expect(renderCampaignPullBody(landed(LANDING))).toContain('Each kept change was measured on its own.')
  })

  it('is the selection effect without pairs after the verdict', () => {
    const campaign = landed()
    const line = 'bytes 8.0 % lower when it was kept, not measured again yet'
    expect(lineOf(campaign)).toBe(line)
    expect(renderCampaignPullBody(campaign)).toContain('### bytes about 8.0 % lower than at the start\n')
    expect(renderCampaignPullTitle(campaign)).toBe('optimize(size): bytes about 8.0 % lower, 1 change')
    const view = buildStatusView(campaign, new Map())
    expect(view.progress).toMatchObject({ by: 'not measured', effect: null, not_measured: ['exp-001'] })
  })
})

describe('a kept experiment', () => {
  it('shows the reported effect beside the selection effect', () => {
    const campaign = landed(LANDING)
    const experiment = campaign.experiments['exp-001']
    if (!experiment) throw new Error('it was opened')
    expect(describeReportedEffect(campaign, experiment)).toEqual({
      reported: 'bytes 3.0 % lower (1.0 to 5.0 %), 8 pairs',
      selectedBy: 'bytes 8.0 % lower',
    })
    const shown = renderExperiment(campaign, experiment, { pr: 7, branch: null }, { events: [] }).join('\n')
    expect(shown).toMatch(/reported effect +bytes 3\.0 % lower \(1\.0 to 5\.0 %\), 8 pairs/)
    expect(shown).toMatch(/selected by +bytes 8\.0 % lower \(biased upwards: winnow chose it by this value\)/)
    expect(renderStatus(campaign, buildStatusView(campaign, new Map())).at(-1)).toContain(
      'Kept: reported effect bytes 3.0 % lower (1.0 to 5.0 %), 8 pairs; selected by bytes 8.0 % lower',
    )
  })

  it('is the same in the status, on the front page of the ledger and in the digest', () => {
    const campaign = landed(LANDING, PROGRESS)
    const said = 'reported effect bytes 3.0 % lower (1.0 to 5.0 %), 8 pairs; selected by bytes 8.0 % lower'
    expect(renderStatus(campaign, buildStatusView(campaign, new Map())).join('\n')).toContain(`Kept: ${said}`)
    expect(renderLedgerReadme(campaign)).toContain(`| exp-001 | kept | Shorter | ${said} |`)
    expect(renderDigest(campaign, getCampaignSpec(campaign), computeCampaignProgress(campaign))).toContain(
      `- exp-001, kept: shorter (${said})`,
    )
  })

  it('omits an effect that is not measured yet', () => {
    const campaign = landed()
    const [experiment] = Object.values(campaign.experiments)
    expect(experiment && describeReportedEffect(campaign, experiment)?.reported).toBeNull()
  })

  it('has no reported effect without pairs, or after a revert', () => {
    const campaign = landed(LANDING)
    const [experiment] = Object.values(campaign.experiments)
    if (!experiment) throw new Error('it was opened')
    expect(describeReportedEffect(campaign, { ...experiment, alpha_share: null })).toBeNull()
    for (const landing of campaign.landings) landing.reverted = 'd'.repeat(40)
    expect(describeReportedEffect(campaign, experiment)).toBeNull()
  })
})
