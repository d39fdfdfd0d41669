import { describe, expect, it } from 'vitest'
import { formatCampaignCost, formatMeasuringMinutes } from '../../src/report/status.ts'

const SPENT = { minutes: 137.2, executions: 96, requests: 0, tokens: 0, usd: 0.25, usd_for: {} }

describe('the cost of a campaign', () => {
  it('is given in job-minutes on GitHub Actions', () => {
    expect(formatCampaignCost({ host: 'github', spent: SPENT })).toBe(
      '96 executions in 138 job-minutes, 0.25 USD for models',
    )
    expect(formatMeasuringMinutes({ host: 'github', spent: { ...SPENT, minutes: 1 } })).toBe('1 job-minute')
  })

  it('is given as time on a local machine', () => {
    expect(formatCampaignCost({ host: 'local', spent: { ...SPENT, usd: 0 } })).toBe(
      '96 executions in 2:17:12',
    )
  })
})
