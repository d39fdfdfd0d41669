import { findDefaultBranch } from '../engine/default-branch.ts'
import type { CampaignContext } from '../engine/place.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { findReachedLimit } from '../plan/stop.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { listStatusNotes } from '../spec/notes.ts'
import { describeLimitReached } from '../report/way-on.ts'
import { renderStatusSentence, renderStatus } from '../report/status-text.ts'
import { buildStatusView } from '../report/status-view.ts'
import { withCampaign } from './at-campaign.ts'
import { listPullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const statusVerb: Verb = {
  name: 'status',
  group: 'see',
  summary: 'where the campaign stands, and a verdict for every experiment',
  access: 'read',
  arguments: [],
  options: [],
  examples: ['winnow status', 'winnow status --json --campaign parser'],
  exits: {},
  comment: {
    options: [],
    run: call =>
      withCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
        const { loaded, spec } = await requireCampaign(place)
        const { campaign } = loaded
        const notes = describeLimitNotes(call, campaign, spec)
        call.terminal.out(renderStatusSentence(campaign, buildStatusView(campaign, new Map(), notes)))
        return 0
      }),
  },
  run: call =>
    withCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
      const { loaded, spec } = await requireCampaign(place)
      const { campaign } = loaded
      const notes = [
        ...describeLimitNotes(call, campaign, spec),
        ...(await describeMissingBranch(place, campaign)),
        ...listStatusNotes(spec),
      ]
      const view = buildStatusView(campaign, await listPullNumbers(place, campaign), notes)
      if (call.given.flag('json')) call.terminal.json(view)
      else for (const line of renderStatus(campaign, view)) call.terminal.out(line)
      return 0
    }),
}

/** What the next run will find; any machine's baseline serves to tell. */
function describeLimitNotes({ around }: Call, campaign: Campaign, spec: Spec): string[] {
  const now = new Date(around.clock.now()).toISOString()
  const stop = findReachedLimit({ campaign, spec, now, runner: { machine: null } })
  return stop === null ? [] : [describeLimitReached(campaign, stop)]
}

/** Nothing goes on without it, which only a look at the remote tells. */
async function describeMissingBranch(place: CampaignContext, campaign: Campaign): Promise<string[]> {
  try {
    await findDefaultBranch(place, new Map(), campaign)
    return []
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [`nothing goes on: ${error.message} (${error.fix ?? ''})`]
  }
}
