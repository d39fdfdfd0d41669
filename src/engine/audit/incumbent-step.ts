import type { Campaign } from '../../model/campaign.ts'
import type { Oid, Point } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'
import type { CampaignContext } from '../place.ts'
import type { AuditEvidence } from './evidence.ts'

/** One recorded move of the incumbent, on the campaign as it was just before. */
export interface IncumbentStep {
  place: CampaignContext
  campaign: Campaign
  spec: Spec | null
  evidence: AuditEvidence
  from: Point
  to: Point
}

/** What is named must be there before anything can be said about it. */
export async function listAbsentCommits(
  { repository }: CampaignContext,
  oids: readonly Oid[],
): Promise<string[]> {
  const gaps: string[] = []
  for (const oid of oids)
    if (!(await repository.has(oid))) gaps.push(`commit ${oid} is not in the repository`)
  return gaps
}
