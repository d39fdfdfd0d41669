import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { describeNextTick } from '../report/resume-hint.ts'
import { withCampaign } from './context.ts'
import { REASON } from './pause.ts'
import { findNamedExperiment } from './subjects.ts'
import type { Verb } from './verb.ts'

export const revertVerb: Verb = {
  name: 'revert',
  group: 'more',
  summary: 'revert a kept experiment; winnow measures the result',
  access: 'write',
  arguments: [{ name: 'exp', summary: 'a kept experiment', required: true }],
  options: [REASON],
  examples: ['winnow revert exp-007 -m "breaks Windows"'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const { campaign } = (await requireCampaign(campaignContext)).loaded
      const { id } = findNamedExperiment(campaign, call.given.positionals[0] ?? '')
      requireLanded(campaign, id)
      requireNotRequested(campaign, id)
      const reason = call.given.text('message') ?? `requested by ${campaignContext.by.actor}`
      await recordEvents(campaignContext, [{ kind: 'steered', action: 'revert', experiment: id, reason }])
      if (dryRun === null) call.terminal.out(describeRevertTime(campaign, id))
      return 0
    }),
}

function requireLanded({ landings }: Campaign, id: string): void {
  const landed = landings.filter(({ reverted }) => reverted === null).map(({ experiment }) => experiment)
  if (landed.includes(id)) return
  const before = landings.some(({ experiment }) => experiment === id)
  throw new UserError(
    before ? `${id} was reverted already` : `${id} was not kept, so it cannot be reverted`,
    {
      fix: landed.length === 0 ? 'nothing is kept at the moment' : `kept are ${landed.join(', ')}`,
    },
  )
}

function requireNotRequested(campaign: Campaign, id: string): void {
  const request = campaign.steered.find(({ action, experiment }) => action === 'revert' && experiment === id)
  if (request === undefined) return
  throw new UserError(`the revert of ${id} was requested already: ${request.reason}`, {
    fix: `nothing to do: ${describeNextTick(campaign)} reverts it`,
  })
}

function describeRevertTime(campaign: Campaign, id: string): string {
  const { status, name } = campaign
  if (status === 'running') return `${id} will be reverted by ${describeNextTick(campaign)}.`
  return `Recorded. Campaign ${name} is ${status}: winnow reverts ${id} after winnow resume.`
}
