import { progressOf } from '../decide/progress.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'
import { badgeSvg } from './badge-svg.ts'
import { chartData } from './chart-data.ts'
import { chartSvg } from './chart-svg.ts'
import { digest } from './digest.ts'
import { ledgerReadme } from './ledger-readme.ts'

export const BADGE = 'badge.svg'

/** Everything beside the events that people read: a pure function of them, deleted and rebuilt at will. */
export function ledgerViews(campaign: Campaign, spec: Spec): Record<string, string> {
  const progress = progressOf(campaign, spec)
  return {
    'README.md': ledgerReadme(campaign),
    'digest.md': digest(campaign, progress),
    'chart.svg': chartSvg(campaign.name, chartData(campaign, progress)),
    [BADGE]: badgeSvg(campaign, progress),
  }
}
