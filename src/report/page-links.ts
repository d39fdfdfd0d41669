import type { Campaign } from '../model/campaign.ts'
import { buildCampaignRefs, toShortRef } from '../model/refs.ts'
import { type CampaignSpecText, getCampaignSpec } from '../spec/recorded-spec.ts'

/** The address of the repository's page, such as https://github.com/owner/name; null where it has none. */
export type PageUrl = string | null

const RUN = /^actions:(\d+)\/\d+$/

/** The page of the workflow run that measured something; null for a run on somebody's machine. */
export function buildRunUrl(page: PageUrl, runId: string): string | null {
  const [, run] = RUN.exec(runId) ?? []
  return page === null || run === undefined ? null : `${page}/actions/runs/${run}`
}

/**
 * The chart on the ledger's branch. `blob/…?raw=true` is served to whoever may read the repository, private ones
 * included; raw.githubusercontent.com answers 404 there.
 */
export function buildChartUrl(
  page: PageUrl,
  campaign: Pick<Campaign, 'name'> & CampaignSpecText,
): string | null {
  if (page === null) return null
  const branch = toShortRef(buildCampaignRefs(getCampaignSpec(campaign).branches.prefix, campaign.name).state)
  const path = [...branch.split('/'), 'chart.svg'].map(part => encodeURIComponent(part)).join('/')
  return `${page}/blob/${path}?raw=true`
}
