import { defaultBranchOf } from '../engine/default-branch.ts'
import type { Place } from '../engine/place.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { limitReached } from '../plan/stop.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import { standingNotes } from '../spec/notes.ts'
import { limitReachedText } from '../report/way-on.ts'
import { statusSentence, statusText } from '../report/status-text.ts'
import { statusView } from '../report/status-view.ts'
import { atCampaign } from './at-campaign.ts'
import { pullNumbers } from './pull-numbers.ts'
import type { Verb } from './verb.ts'

export const status: Verb = {
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
      atCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
        const { loaded, spec } = await requireCampaign(place)
        const { campaign } = loaded
        const notes = limitNotes(call, campaign, spec)
        call.terminal.out(statusSentence(campaign, statusView(campaign, new Map(), notes)))
        return 0
      }),
  },
  run: call =>
    atCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
      const { loaded, spec } = await requireCampaign(place)
      const { campaign } = loaded
      const notes = [
        ...limitNotes(call, campaign, spec),
        ...(await goneNotes(place, campaign)),
        ...standingNotes(spec),
      ]
      const view = statusView(campaign, await pullNumbers(place, campaign), notes)
      if (call.given.flag('json')) call.terminal.json(view)
      else for (const line of statusText(campaign, view)) call.terminal.out(line)
      return 0
    }),
}

/** What the next run will find; any machine's baseline serves to tell. */
function limitNotes({ around }: Call, campaign: Campaign, spec: Spec): string[] {
  const now = new Date(around.clock.now()).toISOString()
  const stop = limitReached({ campaign, spec, now, runner: { machine: null } })
  return stop === null ? [] : [limitReachedText(campaign, stop)]
}

/** Nothing goes on without it, which only a look at the remote tells. */
async function goneNotes(place: Place, campaign: Campaign): Promise<string[]> {
  try {
    await defaultBranchOf(place, new Map(), campaign)
    return []
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return [`nothing goes on: ${error.message} (${error.fix ?? ''})`]
  }
}
