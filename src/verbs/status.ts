import { defaultBranchOf } from '../engine/default-branch.ts'
import type { Place } from '../engine/place.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { standingNotes } from '../spec/notes.ts'
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
        const { campaign } = (await requireCampaign(place)).loaded
        call.terminal.out(statusSentence(campaign, statusView(campaign, new Map())))
        return 0
      }),
  },
  run: call =>
    atCampaign(call, { access: 'read', startedOnly: true }, async ({ place }) => {
      const { loaded, spec } = await requireCampaign(place)
      const { campaign } = loaded
      const notes = [...(await goneNotes(place, campaign)), ...standingNotes(spec)]
      const view = statusView(campaign, await pullNumbers(place, campaign), notes)
      if (call.given.flag('json')) call.terminal.json(view)
      else for (const line of statusText(campaign, view)) call.terminal.out(line)
      return 0
    }),
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
