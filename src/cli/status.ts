import type { CampaignContext } from '../engine/campaign/context.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { findDefaultBranch } from '../engine/observe/observe.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { findReachedLimit } from '../plan/stop.ts'
import { EventRenderer } from '../report/event-log.ts'
import { describeLimitReached } from '../report/resume-hint.ts'
import { buildStatusView, renderStatus, renderStatusSentence } from '../report/status.ts'
import { listStatusNotes } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import { withCampaign } from './context.ts'
import { listPullNumbers, readLedgerEvents } from './subjects.ts'
import type { Call, Verb } from './verb.ts'

export const statusVerb: Verb = {
  name: 'status',
  group: 'see',
  summary: 'show the state of the campaign and the verdict of every experiment',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow status', 'winnow status --json --campaign parser'],
  exits: {},
  comment: {
    options: [],
    run: call =>
      withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
        const { loaded, spec } = await requireCampaign(campaignContext)
        const { campaign } = loaded
        const notes = describeLimitNotes(call, campaign, spec)
        call.terminal.out(renderStatusSentence(campaign, buildStatusView(campaign, new Map(), notes)))
        return 0
      }),
  },
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
      const { loaded, spec } = await requireCampaign(campaignContext)
      const { campaign } = loaded
      const notes = [
        ...describeLimitNotes(call, campaign, spec),
        ...(await describeMissingBranch(campaignContext, campaign)),
        ...listStatusNotes(spec),
      ]
      const view = buildStatusView(campaign, await listPullNumbers(campaignContext, campaign), notes)
      if (call.given.flag('json')) call.terminal.json(view)
      else for (const line of renderStatus(campaign, view)) call.terminal.out(line)
      return 0
    }),
}

/** Predicts the next run without knowing its machine, so any machine's baseline counts. */
function describeLimitNotes({ environment }: Call, campaign: Campaign, spec: Spec): string[] {
  const now = new Date(environment.clock.now()).toISOString()
  const stop = findReachedLimit({ campaign, spec, now, runner: { machine: null } })
  return stop === null ? [] : [describeLimitReached(campaign, stop)]
}

/** The campaign cannot continue without its default branch. Only the remote knows whether it exists. */
async function describeMissingBranch(
  campaignContext: CampaignContext,
  campaign: Campaign,
): Promise<string[]> {
  try {
    await findDefaultBranch(campaignContext, new Map(), campaign)
    return []
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [`next: nothing, because ${error.message} (${error.fix ?? ''})`]
  }
}

export const logVerb: Verb = {
  name: 'log',
  group: 'see',
  summary: 'list every event of the campaign, oldest first; with --json one per line',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow log', 'winnow log --json'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ campaignContext }) => {
      const lines = new EventRenderer()
      for await (const event of readLedgerEvents(campaignContext)) {
        if (call.given.flag('json')) call.terminal.json(event)
        else call.terminal.out(`${event.seq}  ${event.at}  ${lines.next(event)}`)
      }
      return 0
    }),
}
