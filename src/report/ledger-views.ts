import { computeProgress } from '../decide/progress.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'
import { renderBadge } from './badge-svg.ts'
import { buildChartData } from './chart-data.ts'
import { renderChart } from './chart-svg.ts'
import { renderDigest } from './digest.ts'
import { renderLedgerReadme } from './ledger-readme.ts'

export const BADGE_FILE = 'badge.svg'

/** Everything beside the events that people read: a pure function of them, deleted and rebuilt at will. */
export function renderLedgerViews(campaign: Campaign, spec: Spec): Record<string, string> {
  const progress = computeProgress(campaign, spec)
  return {
    'README.md': renderLedgerReadme(campaign),
    'digest.md': renderDigest(campaign, progress),
    'chart.svg': renderChart(campaign.name, buildChartData(campaign, progress)),
    [BADGE_FILE]: renderBadge(campaign, progress),
  }
}
