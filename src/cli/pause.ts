import type { StopRuleHit } from '../decide/stop-rules.ts'
import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { hasFruitlessRuns } from '../model/alerts.ts'
import { listDisabledProposers } from '../model/fold/proposers.ts'
import { isMovable, withReason } from '../model/status.ts'
import { planDirectReverts } from '../plan/landing.ts'
import { findStopRule, isLimitRaised } from '../plan/stop.ts'
import { describeSyncState } from '../plan/sync.ts'
import type { World } from '../plan/world.ts'
import { describeLimitRaise, describeNextMeasurement } from '../report/resume-hint.ts'
import { describeCampaignState } from '../report/status.ts'
import { type CommandContext, withCampaign } from './context.ts'
import { observeWorld } from './tick.ts'
import type { Call, Option, Verb } from './verb.ts'

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
  arguments: [],
  options: [REASON],
  examples: ['winnow pause -m "release week"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const { campaign } = (await requireCampaign(campaignContext)).loaded
      if (campaign.status === 'stopped') {
        throw new UserError(
          `campaign ${campaignContext.name} is ${describeCampaignState(campaign)}: there is nothing to pause`,
        )
      }
      if (campaign.status === 'paused') {
        call.terminal.out(
          `Campaign ${campaignContext.name} was already ${withReason('paused', campaign.status_reason ?? '')}`,
        )
        return 0
      }
      const reason = call.given.text('message') ?? `paused by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'campaign-paused', reason, source: 'person' }])
      if (dryRun === null)
        call.terminal.out(`Campaign ${campaignContext.name} is paused. winnow resume continues it.`)
      return 0
    }),
}

export const resumeVerb: Verb = {
  name: 'resume',
  group: 'more',
  summary: 'continue a campaign that was paused or stopped',
  access: 'write',
  arguments: [],
  options: [REASON],
  examples: ['winnow resume', 'winnow resume -m "the runner is back"'],
  exits: {},
  comment: { options: ['message'] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async context => {
      const { campaignContext, dryRun } = context
      const { campaign } = (await requireCampaign(campaignContext)).loaded
      const disabled = listDisabledProposers(campaign)
      const running = campaign.status === 'running'
      const hasPausedRuns = hasFruitlessRuns(campaign)
      if (running && disabled.length === 0 && !hasPausedRuns) {
        call.terminal.out(`Campaign ${campaignContext.name} is running already.`)
        return 0
      }
      if (campaign.status === 'stopped') await requireRoom(call, context)
      const reason = call.given.text('message') ?? `resumed by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'campaign-resumed', reason }])
      if (dryRun !== null) return 0
      for (const proposer of disabled) call.terminal.out(`winnow asks ${proposer} for ideas again.`)
      if (hasPausedRuns) call.terminal.out('Runs of GitHub Actions that were put off start again.')
      if (!running)
        call.terminal.out(`Campaign ${campaignContext.name} continues. ${describeNextMeasurement(campaign)}`)
      return 0
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
    return 'bring an idea: winnow try takes what you changed; or commit a patch, or let ideas in with use: external'
  const obstacle = describeSyncState(sync)
  const raise = describeLimitRaise(campaign, code, obstacle)
  if (obstacle !== null) return raise
  return comment || !isMovable(code) ? raise : `${raise}; or winnow amend --reason "…", then winnow resume`
}
