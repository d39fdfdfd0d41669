import { withReason } from '../model/describe-status.ts'
import { plural } from '../decide/wording.ts'
import { progressText } from '../decide/progress-text.ts'
import { isAway } from '../engine/home.ts'
import { presentRun } from '../engine/presence.ts'
import { run as runCampaign } from '../engine/run.ts'
import { openHands, requireCampaign } from '../engine/session.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import { progressOf } from '../model/fold-order.ts'
import { EFFECT_JOBS } from '../model/order.ts'
import { campaignProgress } from '../report/campaign-result.ts'
import { durationText } from '../report/duration.ts'
import { expectedSeconds } from '../report/expected-time.ts'
import { atCampaign, type Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { showingLive } from './live.ts'
import { REASON } from './pause.ts'
import { closeDown } from './run.ts'
import { runLive } from './run-live.ts'
import type { Verb } from './verb.ts'

export const stop: Verb = {
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
    atCampaign(call, { access: 'write', startedOnly: true, announce: true }, async scene => {
      const { campaign } = (await requireCampaign(scene.place)).loaded
      const already = campaign.status === 'stopped'
      const reason = call.given.text('message') ?? `stopped by ${scene.place.by.actor}`
      await closeDown(call, scene, 'person', reason)
      if (scene.rehearsal) return 0
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
async function measureProgress(call: Call, scene: Scene): Promise<number> {
  const { place, workshop } = scene
  const { campaign } = (await requireCampaign(place)).loaded
  if (call.comment || isAway(place, campaign)) return 0
  const due = Object.values(campaign.orders).find(({ order }) => order.purpose === 'progression')
  if (due !== undefined && (await presentRun(workshop.dataDir))?.campaign !== campaign.name) {
    call.terminal.err(
      `Measuring what the kept changes bring together${timeText(campaign, due)}. Ctrl-C ends it; winnow run goes on with it.`,
    )
    const hands = await openHands(place, call.interrupt)
    await showingLive(call, runLive(hands), () =>
      runCampaign(hands, { signal: call.interrupt, watch: false }),
    )
  }
  const now = (await requireCampaign(place)).loaded.campaign
  const progress = campaignProgress(now)
  if (progress.is !== 'nothing kept') call.terminal.out(`Since the baseline: ${progressText(progress)}.`)
  return call.interrupt.aborted ? 130 : 0
}

function timeText(campaign: Campaign, { order }: LiveOrder): string {
  const seconds = expectedSeconds(campaign, order)
  const { reference: from, incumbent: to } = campaign
  const jobs = EFFECT_JOBS - progressOf(campaign, { from, to }).length
  return `, in ${plural(jobs, 'job')}${seconds === null ? '' : `, about ${durationText(jobs * seconds)}`}`
}
