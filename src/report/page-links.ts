import type { Campaign } from '../model/campaign.ts'
import { campaignRefs, shortRef } from '../model/refs.ts'
import { type Ruled, specOf } from '../spec/recorded-spec.ts'

/** The address of the repository's page, such as https://github.com/owner/name; null where it has none. */
export type Page = string | null

const RUN = /^actions:(\d+)\/\d+$/

/** The page of the workflow run that measured something; null for a run on somebody's machine. */
export function runUrl(page: Page, runId: string): string | null {
  const [, run] = RUN.exec(runId) ?? []
  return page === null || run === undefined ? null : `${page}/actions/runs/${run}`
}

/**
 * The chart on the ledger's branch. `blob/…?raw=true` is served to whoever may read the repository, private ones
 * included; raw.githubusercontent.com answers 404 there.
 */
export function chartUrl(page: Page, campaign: Pick<Campaign, 'name'> & Ruled): string | null {
  if (page === null) return null
  const branch = shortRef(campaignRefs(specOf(campaign).branches.prefix, campaign.name).state)
  const path = [...branch.split('/'), 'chart.svg'].map(part => encodeURIComponent(part)).join('/')
  return `${page}/blob/${path}?raw=true`
}
