import { buildApprovalMark } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { listExperiments } from '../model/experiments.ts'
import { CAMPAIGN_PULL_CAUSE } from '../model/fold.ts'
import { type CampaignPullState, buildCampaignPullMark } from '../model/campaign-pull.ts'
import { findRefusedSyncAlert } from '../model/sync-refused.ts'
import { isRestartDue } from './restart.ts'
import { createPullFinder } from './pull-of.ts'
import type { PlanAction, PlanStep } from './action.ts'
import type { CampaignPullFacts, World } from './world.ts'

/**
 * The campaign's own pull request: opened with the first thing kept, so that it is never empty, kept current, and
 * ready once the campaign has stopped. It follows the ledger (invariant 11); only what people do to it counts.
 */
export function updateCampaignPull(world: World): PlanAction[] {
  const { campaign, campaignPull } = world
  if (campaignPull === undefined || campaign.status === 'none') return []
  const ready = campaign.status === 'stopped'
  const open = campaignPull?.state === 'open'
  if (campaignPull && (open || isItsMerge(campaign, campaignPull))) {
    const { number, body, draft } = campaignPull
    const state = { merged: !open, pulls: unrecordedPulls(world) }
    const current = body.includes(buildCampaignPullMark(campaign, state)) && !(open && ready && draft)
    const shows = isPlain(state) ? {} : { shows: state }
    return [
      ...(current ? [] : [{ do: 'campaign-pull', number, ready: open && ready, ...shows } as const]),
      ...(open ? updateOpenPull(world, campaignPull) : []),
    ]
  }
  return isPullDue(world, campaignPull) ? [{ do: 'campaign-pull', number: null, ready }] : []
}

/** Merged with all that the campaign has: its text no longer asks for the merge. */
function isItsMerge(campaign: Campaign, pull: CampaignPullFacts): boolean {
  if (pull.state !== 'merged' || campaign.status !== 'stopped') return false
  return pull.head === campaign.incumbent.commit || Object.hasOwn(campaign.heeded, formatPullCause(pull))
}

function isPlain({ merged, pulls }: CampaignPullState): boolean {
  return !merged && Object.keys(pulls).length === 0
}

/** Of what the text names: an event has the number of a pull request only once it has ended. */
function unrecordedPulls(world: World): Record<string, number> {
  const { picks } = world.campaign
  const named = [...Object.values(picks), ...listDeferred(world)]
  const pullOf = createPullFinder(world)
  return Object.fromEntries(
    named.flatMap(each => {
      const number = each.pull === null ? pullOf(each)?.number : undefined
      return number === undefined ? [] : [[each.id, number]]
    }),
  )
}

function updateOpenPull(world: World, { number, ownComments: said }: CampaignPullFacts): PlanAction[] {
  if (said === undefined || world.spec.report.comment === 'never') return []
  const pullOf = createPullFinder(world)
  const news = listDeferred(world).filter(
    each => !isAlreadyTold(each, said) && !(each.owned && isAlreadyTold(each, pullOf(each)?.ownComments)),
  )
  return news.map(({ id }) => ({ do: 'tell', number, experiment: id }))
}

function listDeferred({ campaign }: World): Experiment[] {
  return listExperiments(campaign).filter(({ status }) => status === 'deferred')
}

function isAlreadyTold(experiment: Experiment, said: string | undefined): boolean {
  return said?.includes(buildApprovalMark(experiment) ?? '') ?? false
}

/**
 * Before the campaign has a pull request people hear of packages that wait on the experiment's own, once: on somebody's
 * by its one comment, on winnow's by a word of its own, since what is changed in a text is mailed to nobody.
 */
export function announceApprovals(world: World): PlanAction[] {
  const { campaign, campaignPull, spec } = world
  if (campaignPull?.state === 'open' || campaign.status === 'none' || spec.report.comment === 'never')
    return []
  const pullOf = createPullFinder(world)
  return listDeferred(world).flatMap(experiment => {
    const pull = experiment.owned ? pullOf(experiment) : undefined
    if (
      pull?.state !== 'open' ||
      pull.ownComments === undefined ||
      isAlreadyTold(experiment, pull.ownComments)
    )
      return []
    return [{ do: 'tell', number: pull.number, experiment: experiment.id, here: true }]
  })
}

/** Something is kept that the default branch lacks, and the branch to offer it from stands there. */
function isPullDue(
  { campaign, campaignTip, defaultTip, sync }: World,
  pull: CampaignPullFacts | null,
): boolean {
  const { incumbent, landings, status, round } = campaign
  const kept = landings.some(({ reverted }) => reverted === null)
  const apart = incumbent.commit !== defaultTip.commit && incumbent.tree !== defaultTip.tree
  const comes = sync !== null && findRefusedSyncAlert(campaign)?.tip !== sync.tip
  if (!kept || !apart || comes || campaignTip !== incumbent.commit || round?.open === true) return false
  return (
    pull === null ||
    (status === 'running' && pull.head !== incumbent.commit) ||
    isPullReopened(campaign, pull)
  )
}

/** Who goes on after it was closed wants it back. */
function isPullReopened({ status, heeded }: Campaign, pull: CampaignPullFacts): boolean {
  return pull.state === 'closed' && status === 'running' && Object.hasOwn(heeded, formatPullCause(pull))
}

/** Merged: the campaign is over. Closed: nobody wants more of it for now. Each once, so that it can go on after. */
export function recordCampaignPullEnd(world: World): PlanStep[] {
  const { campaign, campaignPull: pull } = world
  if (!pull || pull.state === 'open' || Object.hasOwn(campaign.heeded, formatPullCause(pull))) return []
  const cause = formatPullCause(pull)
  if (pull.state === 'merged' && (campaign.status !== 'stopped' || isRestartDue(world))) {
    const reason = `its pull request #${pull.number} was merged`
    return [{ step: 'event', draft: { kind: 'campaign-stopped', cause, code: 'merged', reason } }]
  }
  if (pull.state === 'closed' && campaign.status === 'running') {
    const reason = `its pull request #${pull.number} was closed; winnow resume opens another one`
    return [{ step: 'event', draft: { kind: 'campaign-paused', cause, reason, source: 'person' } }]
  }
  return []
}

/** Its head follows the incumbent once a round. */
export function advanceCampaignBranch({ campaign, campaignTip: from, optimizeTip }: World): PlanAction[] {
  const { commit: to } = campaign.incumbent
  if (campaign.round?.open || to === campaign.start.commit) return []
  if (from === to || optimizeTip?.commit !== to) return []
  return [{ do: 'advance-campaign-branch', from, to }]
}

function formatPullCause({ number, state, closed_at }: CampaignPullFacts): string {
  return `${CAMPAIGN_PULL_CAUSE}${number} ${state} ${closed_at ?? ''}`
}
