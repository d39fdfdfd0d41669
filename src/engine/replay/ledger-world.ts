import type { Campaign } from '../../model/campaign.ts'
import type { ExperimentId } from '../../model/ids.ts'
import type { CandidateFacts, World } from '../../plan/world.ts'
import type { Spec } from '../../spec/schema.ts'
import { readCandidateFacts } from '../facts/candidate.ts'
import type { CampaignContext } from '../place.ts'

/** The world as far as a verdict depends on it: ledger and objects, with everything else empty (invariant 3). */
export function buildLedgerWorld(campaign: Campaign, spec: Spec, candidates: World['candidates']): World {
  return {
    now: campaign.started_at ?? '',
    entropy: '',
    campaign,
    spec,
    optimizeTip: campaign.incumbent,
    campaignTip: null,
    defaultTip: campaign.pin,
    pulls: [],
    branches: new Map(),
    proposals: [],
    unopened: 0,
    outsiders: new Map(),
    stacked: new Map(),
    candidates,
    releases: null,
    sync: null,
    foreign: null,
    branchMismatch: null,
    holdout: null,
    reverts: new Map(),
    picks: new Map(),
    runs: new Map(),
    runner: { runId: null, machine: null, external: false },
    askable: [],
    asking: [],
    asks: 'here',
    answers: [],
    unanswered: [],
    targetBranch: null,
  }
}

/** The members of the open round, merged again with the incumbent: who ranks first and who may be combined. */
export async function readMemberCandidates(
  { repository }: CampaignContext,
  campaign: Campaign,
  spec: Spec,
): Promise<Map<ExperimentId, CandidateFacts>> {
  const found = new Map<ExperimentId, CandidateFacts>()
  if (!campaign.round?.open) return found
  for (const id of campaign.round.members) {
    const experiment = campaign.experiments[id]
    const head = experiment?.head ?? null
    if (head === null || experiment?.status !== 'measured' || !(await repository.has(head))) continue
    const { incumbent } = campaign
    found.set(id, await readCandidateFacts({ repository, campaign, spec, incumbent, head, unsynced: null }))
  }
  return found
}
