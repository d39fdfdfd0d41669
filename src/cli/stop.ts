import { formatProgress } from '../decide/progress.ts'
import { formatCount } from '../decide/wording.ts'
import { type CampaignContext, isAway, listRefs } from '../engine/campaign/context.ts'
import { archiveCampaign } from '../engine/campaign/start.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { findRegisteredRun, openController, requireCampaign, runCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import { getProgressJobs } from '../model/fold/orders.ts'
import { toShortRef } from '../model/ids.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import { withReason } from '../model/status.ts'
import { computeCampaignProgress } from '../report/campaign-result.ts'
import { estimateOrderSeconds, formatDuration } from '../report/terminal.ts'
import { type CommandContext, withCampaign } from './context.ts'
import { createLiveRenderer, showLive } from './live.ts'
import { REASON } from './pause.ts'
import { closeCampaign } from './run.ts'
import type { Call, Verb } from './verb.ts'

export const stopVerb: Verb = {
  name: 'stop',
  group: 'steer',
  summary: 'stop the campaign; winnow resume continues with unmeasured ideas',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow stop -m "good enough"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true, announce: true }, async context => {
      const { campaign } = (await requireCampaign(context.campaignContext)).loaded
      const already = campaign.status === 'stopped'
      const reason = call.given.text('message') ?? `stopped by ${context.campaignContext.by.actor}`
      await closeCampaign(call, context, 'person', reason)
      if (context.dryRun) return 0
      const githubNote = isAway(context.campaignContext, campaign)
        ? ' The next run on GitHub ends what is being measured.'
        : ''
      call.terminal.out(
        already
          ? `Campaign ${campaign.name} was already ${withReason('stopped', campaign.status_reason ?? '')}`
          : `Campaign ${campaign.name} is stopped. Its result is on ${context.campaignContext.prefix}/${campaign.name}.${githubNote}`,
      )
      return measureProgress(call, context)
    }),
}

/**
 * Measures the total improvement if it is unknown. A run in progress on this machine sees the stop and measures
 * it. Otherwise the next run does.
 */
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
  arguments: [],
  options: [REASON],
  examples: ['winnow archive', 'winnow archive --dry-run'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async context => {
      const { campaignContext } = context
      const reason = call.given.text('message') ?? `archived by ${campaignContext.by.actor}`
      await requireClosed(campaignContext, (await requireCampaign(campaignContext)).loaded.campaign, reason)
      await closeCampaign(call, context, 'archived', reason)
      const at = await archiveCampaign(campaignContext, (await listRefs(campaignContext)).refs)
      if (context.dryRun === null) {
        call.terminal.out(
          `Campaign ${campaignContext.name} is below ${toShortRef(campaignContext.refs.archive)}${at}/ now.`,
        )
      }
      return 0
    }),
}

/**
 * Only a run on GitHub can close pull requests there. Marks a stopped campaign for archiving; the next scheduled
 * run closes its ideas.
 */
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
  throw new UserError(
    `campaign ${campaignContext.name} runs on GitHub; its next scheduled run closes what is open`,
    {
      fix: `${isStopped ? '' : 'winnow stop; then winnow archive; '}once winnow status shows nothing open, winnow archive again`,
    },
  )
}
