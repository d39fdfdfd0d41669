import { withReason } from '../model/describe-status.ts'
import { formatCount } from '../decide/wording.ts'
import { formatProgress } from '../decide/progress-text.ts'
import { isAway } from '../engine/home.ts'
import { findRegisteredRun } from '../engine/presence.ts'
import { runCampaign } from '../engine/run.ts'
import { openController, requireCampaign } from '../engine/session.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import { getProgressJobs } from '../model/fold-order.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import { computeCampaignProgress } from '../report/campaign-result.ts'
import { formatDuration } from '../report/duration.ts'
import { estimateOrderSeconds } from '../report/expected-time.ts'
import { withCampaign, type CommandContext } from './at-campaign.ts'
import type { Call } from './call.ts'
import { showLive } from './live.ts'
import { REASON } from './pause.ts'
import { closeCampaign } from './run.ts'
import { createLiveRenderer } from './run-live.ts'
import type { Verb } from './verb.ts'

export const stopVerb: Verb = {
  name: 'stop',
  group: 'steer',
  summary: 'stop the campaign: ideas without a verdict wait for winnow resume',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow stop -m "good enough"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true, announce: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      const already = campaign.status === 'stopped'
      const reason = call.given.text('message') ?? `stopped by ${scene.place.by.actor}`
      await closeCampaign(call, scene, 'person', reason)
      if (scene.dryRun) return 0
      const away = isAway(scene.place, campaign) ? ' The next run on GitHub ends what is being measured.' : ''
      call.terminal.out(
        already
          ? `Campaign ${campaign.name} was already ${withReason('stopped', campaign.status_reason ?? '')}`
          : `Campaign ${campaign.name} is stopped. Its result is on ${scene.place.prefix}/${campaign.name}.${away}`,
      )
      return measureProgress(call, scene)
    }),
}

/**
 * What the kept changes bring together is measured where it is not known yet. A run that goes on here has heard of the
 * stop and does it; elsewhere the next run does.
 */
async function measureProgress(call: Call, scene: CommandContext): Promise<number> {
  const { place, workshop } = scene
  const { campaign } = (await requireCampaign(place)).loaded
  if (call.comment || isAway(place, campaign)) return 0
  const due = Object.values(campaign.orders).find(({ order }) => order.purpose === 'progression')
  if (due !== undefined && (await findRegisteredRun(workshop.dataDir))?.campaign !== campaign.name) {
    call.terminal.err(
      `Measuring what the kept changes bring together${describeOrderTime(campaign, due)}. Ctrl-C ends it; winnow run goes on with it.`,
    )
    const hands = await openController(place, call.interrupt)
    await showLive(call, createLiveRenderer(hands), () =>
      runCampaign(hands, { signal: call.interrupt, watch: false }),
    )
  }
  const now = (await requireCampaign(place)).loaded.campaign
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
