import { approvalMark } from '../model/approval.ts'
import type { Campaign } from '../model/campaign.ts'
import type { Experiment } from '../model/experiment.ts'
import { experimentsOf } from '../model/experiments.ts'
import { CAMPAIGN_PULL } from '../model/fold.ts'
import { type CampaignPullState, campaignPullMark } from '../model/campaign-pull.ts'
import { syncRefused } from '../model/sync-refused.ts'
import { isToBeRestarted } from './restart.ts'
import { pullFinder } from './pull-of.ts'
import type { Action, Step } from './action.ts'
import type { CampaignPullFacts, World } from './world.ts'

/**
 * The campaign's own pull request: opened with the first thing kept, so that it is never empty, kept current, and
 * ready once the campaign has stopped. It follows the ledger (invariant 11); only what people do to it counts.
 */
export function campaignPullActions(world: World): Action[] {
  const { campaign, campaignPull } = world
  if (campaignPull === undefined || campaign.status === 'none') return []
  const ready = campaign.status === 'stopped'
  const open = campaignPull?.state === 'open'
  if (campaignPull && (open || isItsMerge(campaign, campaignPull))) {
    const { number, body, draft } = campaignPull
    const state = { merged: !open, pulls: unrecordedPulls(world) }
    const current = body.includes(campaignPullMark(campaign, state)) && !(open && ready && draft)
    const shows = isPlain(state) ? {} : { shows: state }
    return [
      ...(current ? [] : [{ do: 'campaign-pull', number, ready: open && ready, ...shows } as const]),
      ...(open ? untold(world, campaignPull) : []),
    ]
  }
  return isDue(world, campaignPull) ? [{ do: 'campaign-pull', number: null, ready }] : []
}

/** Merged with all that the campaign has: its text no longer asks for the merge. */
function isItsMerge(campaign: Campaign, pull: CampaignPullFacts): boolean {
  if (pull.state !== 'merged' || campaign.status !== 'stopped') return false
  return pull.head === campaign.incumbent.commit || Object.hasOwn(campaign.heeded, causeOf(pull))
}

function isPlain({ merged, pulls }: CampaignPullState): boolean {
  return !merged && Object.keys(pulls).length === 0
}

/** Of what the text names: an event has the number of a pull request only once it has ended. */
function unrecordedPulls(world: World): Record<string, number> {
  const { picks } = world.campaign
  const named = [...Object.values(picks), ...waiting(world)]
  const pullOf = pullFinder(world)
  return Object.fromEntries(
    named.flatMap(each => {
      const number = each.pull === null ? pullOf(each)?.number : undefined
      return number === undefined ? [] : [[each.id, number]]
    }),
  )
}

function untold(world: World, { number, said }: CampaignPullFacts): Action[] {
  if (said === undefined || world.spec.report.comment === 'never') return []
  const pullOf = pullFinder(world)
  const news = waiting(world).filter(
    each => !isTold(each, said) && !(each.owned && isTold(each, pullOf(each)?.said)),
  )
  return news.map(({ id }) => ({ do: 'tell', number, experiment: id }))
}

function waiting({ campaign }: World): Experiment[] {
  return experimentsOf(campaign).filter(({ status }) => status === 'deferred')
}

function isTold(experiment: Experiment, said: string | undefined): boolean {
  return said?.includes(approvalMark(experiment) ?? '') ?? false
}

/**
 * Before the campaign has a pull request people hear of packages that wait on the experiment's own, once: on somebody's
 * by its one comment, on winnow's by a word of its own, since what is changed in a text is mailed to nobody.
 */
export function approvalActions(world: World): Action[] {
  const { campaign, campaignPull, spec } = world
  if (campaignPull?.state === 'open' || campaign.status === 'none' || spec.report.comment === 'never')
    return []
  const pullOf = pullFinder(world)
  return waiting(world).flatMap(experiment => {
    const pull = experiment.owned ? pullOf(experiment) : undefined
    if (pull?.state !== 'open' || pull.said === undefined || isTold(experiment, pull.said)) return []
    return [{ do: 'tell', number: pull.number, experiment: experiment.id, here: true }]
  })
}

/** Something is kept that the default branch lacks, and the branch to offer it from stands there. */
function isDue({ campaign, campaignTip, defaultTip, sync }: World, pull: CampaignPullFacts | null): boolean {
  const { incumbent, landings, status, round } = campaign
  const kept = landings.some(({ reverted }) => reverted === null)
  const apart = incumbent.commit !== defaultTip.commit && incumbent.tree !== defaultTip.tree
  const comes = sync !== null && syncRefused(campaign)?.tip !== sync.tip
  if (!kept || !apart || comes || campaignTip !== incumbent.commit || round?.open === true) return false
  return pull === null || (status === 'running' && pull.head !== incumbent.commit) || reopens(campaign, pull)
}

/** Who goes on after it was closed wants it back. */
function reopens({ status, heeded }: Campaign, pull: CampaignPullFacts): boolean {
  return pull.state === 'closed' && status === 'running' && Object.hasOwn(heeded, causeOf(pull))
}

/** Merged: the campaign is over. Closed: nobody wants more of it for now. Each once, so that it can go on after. */
export function campaignPullSteps(world: World): Step[] {
  const { campaign, campaignPull: pull } = world
  if (!pull || pull.state === 'open' || Object.hasOwn(campaign.heeded, causeOf(pull))) return []
  const cause = causeOf(pull)
  if (pull.state === 'merged' && (campaign.status !== 'stopped' || isToBeRestarted(world))) {
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
export function campaignBranch({ campaign, campaignTip: from, optimizeTip }: World): Action[] {
  const { commit: to } = campaign.incumbent
  if (campaign.round?.open || to === campaign.start.commit) return []
  if (from === to || optimizeTip?.commit !== to) return []
  return [{ do: 'advance-campaign-branch', from, to }]
}

function causeOf({ number, state, closed_at }: CampaignPullFacts): string {
  return `${CAMPAIGN_PULL}${number} ${state} ${closed_at ?? ''}`
}
