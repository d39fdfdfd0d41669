import { formatProgress } from '../decide/progress.ts'
import type { StopRuleHit } from '../decide/stop-rules.ts'
import { formatCount } from '../decide/wording.ts'
import { type CampaignContext, isAway, listRefs } from '../engine/campaign/context.ts'
import { archiveCampaign } from '../engine/campaign/start.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { findRegisteredRun, openController, requireCampaign, runCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { hasFruitlessRuns } from '../model/alerts.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import { getProgressJobs } from '../model/fold/orders.ts'
import { listDisabledProposers } from '../model/fold/proposers.ts'
import { toShortRef } from '../model/ids.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import { isMovable, withReason } from '../model/status.ts'
import { planDirectReverts } from '../plan/landing.ts'
import { findStopRule, isLimitRaised } from '../plan/stop.ts'
import { describeSyncState } from '../plan/sync.ts'
import type { World } from '../plan/world.ts'
import { computeCampaignProgress } from '../report/status.ts'
import { describeLimitRaise, describeNextMeasurement } from '../report/resume-hint.ts'
import { describeCampaignState } from '../report/status.ts'
import { estimateOrderSeconds, formatDuration } from '../report/terminal.ts'
import { changeCampaign, withCampaign } from './context.ts'
import { createLiveRenderer, showLive } from './live.ts'
import { ALLOW_UNCAPPED, allowUncapped, closeCampaign } from './run.ts'
import { observeWorld } from './tick.ts'
import type { Call, CommandContext, Option, Verb } from './verb.ts'

export const REASON: Option = {
  name: 'message',
  short: 'm',
  value: 'reason',
  summary: 'your reason, recorded in the ledger',
}

export const pauseVerb: Verb = {
  name: 'pause',
  group: 'steer',
  summary: 'start no new work until winnow resume; running work finishes',
  access: 'write',
  options: [REASON],
  examples: ['winnow pause -m "release week"'],
  comment: { options: ['message'] },
  run: call =>
    changeCampaign(call, async ({ campaignContext, dryRun }, campaign) => {
      const { name, status } = campaign
      if (status === 'stopped')
        throw new UserError(`campaign ${name} is ${describeCampaignState(campaign)}, so it cannot be paused`)
      if (status === 'paused') return call.terminal.out(describeUnchanged(campaign, 'paused'))
      const reason = call.given.text('message') ?? `paused by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'campaign-paused', reason, source: 'person' }])
      if (dryRun === null) call.terminal.out(`Campaign ${name} is paused. winnow resume continues it.`)
    }),
}

export const resumeVerb: Verb = {
  name: 'resume',
  group: 'more',
  summary: 'continue a campaign that was paused or stopped',
  access: 'write',
  options: [REASON, ALLOW_UNCAPPED],
  examples: ['winnow resume', 'winnow resume -m "the runner is back"'],
  comment: { options: ['message', 'allow-uncapped'] },
  run: call =>
    changeCampaign(call, async (context, campaign) => {
      const { campaignContext, dryRun } = context
      const isWaiting = campaign.status === 'paused' && campaign.status_source === 'engine'
      await allowUncapped(call, context)
      const printContinued = () =>
        call.terminal.out(`Campaign ${campaign.name} continues. ${describeNextMeasurement(campaign)}`)
      if (isWaiting && (await requireCampaign(campaignContext)).loaded.campaign.status === 'running')
        return dryRun === null ? printContinued() : undefined
      const disabled = listDisabledProposers(campaign)
      const running = campaign.status === 'running'
      const hasPausedRuns = hasFruitlessRuns(campaign)
      if (running && disabled.length === 0 && !hasPausedRuns)
        return call.terminal.out(`Campaign ${campaign.name} is running already.`)
      if (campaign.status === 'stopped') await requireRoom(call, context)
      const reason = call.given.text('message') ?? `resumed by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'campaign-resumed', reason }])
      if (dryRun !== null) return
      for (const proposer of disabled) call.terminal.out(`winnow asks ${proposer} for ideas again.`)
      if (hasPausedRuns) call.terminal.out('winnow starts postponed runs of GitHub Actions again.')
      if (!running) printContinued()
    }),
}

/** If the stop rule still applies, a resumed campaign would stop again at once. */
async function requireRoom(call: Call, context: CommandContext): Promise<void> {
  const world = await observeWorld(call, context)
  const stop = world === null ? null : findRepeatedStop(world)
  if (world === null || stop === null) return
  if (stop.code === 'empty_backlog' && listDisabledProposers(world.campaign).length > 0) return
  throw new UserError(`campaign ${context.campaignContext.name} would stop again at once: ${stop.reason}`, {
    place: { file: world.campaign.spec_path, path: 'stopping' },
    fix: describeResumeStep(call, world, stop.code),
  })
}

/** Pending reverts come first, even if a stop rule applies. */
function findRepeatedStop(world: World): StopRuleHit | null {
  return planDirectReverts(world).length > 0 || isLimitRaised(world) ? null : findStopRule(world)
}

function describeResumeStep({ comment }: Call, { campaign, sync }: World, code: string): string {
  if (code === 'empty_backlog')
    return 'add an idea: winnow try measures your uncommitted change; or commit a patch, or allow ideas of people with use: external'
  const obstacle = describeSyncState(sync)
  const raise = describeLimitRaise(campaign, code, obstacle)
  if (obstacle !== null) return raise
  return comment || !isMovable(code) ? raise : `${raise}; or winnow amend -m "…", then winnow resume`
}

export const stopVerb: Verb = {
  name: 'stop',
  group: 'steer',
  summary: 'stop the campaign; winnow resume continues with unmeasured ideas',
  access: 'write',
  options: [REASON],
  examples: ['winnow stop -m "good enough"'],
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true, announce: true }, async context => {
      const { campaign } = (await requireCampaign(context.campaignContext)).loaded
      const already = campaign.status === 'stopped'
      const reason = call.given.text('message') ?? `stopped by ${context.campaignContext.by.actor}`
      await closeCampaign(call, context, 'person', reason)
      if (context.dryRun) return 0
      const githubNote = isAway(context.campaignContext, campaign)
        ? ' The next run on GitHub cancels the running measurements.'
        : ''
      call.terminal.out(
        already
          ? describeUnchanged(campaign, 'stopped')
          : `Campaign ${campaign.name} is stopped. Its result is on ${context.campaignContext.prefix}/${campaign.name}.${githubNote}`,
      )
      return measureProgress(call, context)
    }),
}

function describeUnchanged({ name, status_reason: reason }: Campaign, status: 'paused' | 'stopped'): string {
  return `Campaign ${name} was already ${withReason(status, reason ?? '')}`
}

/** A run in progress on this machine sees the stop and measures the total. Otherwise the next run does. */
async function measureProgress(call: Call, context: CommandContext): Promise<number> {
  const { campaignContext, repositoryContext } = context
  const { campaign } = (await requireCampaign(campaignContext)).loaded
  if (call.comment || isAway(campaignContext, campaign)) return 0
  const due = Object.values(campaign.orders).find(({ order }) => order.purpose === 'progression')
  if (due !== undefined && (await findRegisteredRun(repositoryContext.dataDir))?.campaign !== campaign.name) {
    call.terminal.err(
      `Measuring the total effect of the kept changes${describeOrderTime(campaign, due)}. Ctrl-C interrupts; winnow run continues.`,
    )
    const controller = await openController(campaignContext, call.interrupt)
    await showLive(call, createLiveRenderer(controller), () =>
      runCampaign(controller, { signal: call.interrupt, watch: false }),
    )
  }
  const now = (await requireCampaign(campaignContext)).loaded.campaign
  const progress = computeCampaignProgress(now)
  if (progress.is !== 'nothing kept') call.terminal.out(`Since the baseline: ${formatProgress(progress)}.`)
  return call.interrupt.aborted ? 130 : 0
}

function describeOrderTime(campaign: Campaign, { order }: LiveOrder): string {
  const seconds = estimateOrderSeconds(campaign, order)
  const { reference: from, incumbent: to } = campaign
  const jobs = EFFECT_JOBS - getProgressJobs(campaign, { from, to }).length
  return `, in ${formatCount(jobs, 'job')}${seconds === null ? '' : `, about ${formatDuration(jobs * seconds)}`}`
}

export const archiveVerb: Verb = {
  name: 'archive',
  group: 'more',
  summary: 'stop the campaign and move its branches to an archive prefix',
  access: 'write',
  options: [REASON],
  examples: ['winnow archive', 'winnow archive --dry-run'],
  run: call =>
    changeCampaign(call, async (context, campaign) => {
      const { campaignContext } = context
      const { name, refs } = campaignContext
      const reason = call.given.text('message') ?? `archived by ${campaignContext.by.actor}`
      await requireClosed(campaignContext, campaign, reason)
      await closeCampaign(call, context, 'archived', reason)
      const at = await archiveCampaign(campaignContext, (await listRefs(campaignContext)).refs)
      if (context.dryRun === null)
        call.terminal.out(`Campaign ${name} is below ${toShortRef(refs.archive)}${at}/ now.`)
    }),
}

/** A campaign on GitHub is only marked for archiving: its next run closes the pull requests. */
async function requireClosed(
  campaignContext: CampaignContext,
  campaign: Campaign,
  reason: string,
): Promise<void> {
  if (!isAway(campaignContext, campaign)) return
  const open = Object.values(campaign.experiments).filter(({ status }) => status !== 'ended')
  const isStopped = campaign.status === 'stopped'
  if (isStopped && open.length === 0) return
  if (isStopped && campaign.stop_code !== 'archived')
    await recordEvents(campaignContext, [{ kind: 'campaign-stopped', code: 'archived', reason }])
  const first = isStopped ? '' : 'winnow stop; then winnow archive; '
  throw new UserError(
    `campaign ${campaignContext.name} runs on GitHub; its next run on GitHub closes the open experiments`,
    { fix: `${first}once winnow status shows nothing open, winnow archive again` },
  )
}
