import { recordEvents } from '../engine/controller/record.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import type { Campaign } from '../model/campaign.ts'
import { formatIdeaName } from '../model/fold/proposers.ts'
import { withCampaign } from './context.ts'
import { findNamedExperiment, findNamedIdea } from './subjects.ts'
import type { Verb } from './verb.ts'

export const priorityVerb: Verb = {
  name: 'priority',
  group: 'more',
  summary: 'set how soon an experiment or an idea of the backlog is measured',
  access: 'write',
  arguments: [
    {
      name: 'what',
      summary: 'an experiment that is not measured yet, or an idea',
      required: true,
      subject: true,
    },
    { name: 'how', summary: 'how soon', required: true, values: ['high', 'medium', 'low'] },
  ],
  options: [],
  examples: ['winnow priority exp-007 high', 'winnow priority idea-003 low'],
  exits: {},
  comment: { options: [] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const { campaign } = (await requireCampaign(campaignContext)).loaded
      const [what = '', to = ''] = call.given.positionals
      const { name, from } = findPrioritySubject(campaign, what)
      if (from === to) {
        call.terminal.out(`The priority of ${name} is ${to} already.`)
        return 0
      }
      await recordEvents(campaignContext, [{ kind: 'knob-changed', knob: `priority ${name}`, from, to }])
      if (dryRun === null) call.terminal.out(`The priority of ${name} is ${to} now; it was ${from}.`)
      return 0
    }),
}

function findPrioritySubject(campaign: Campaign, given: string): { name: string; from: string } {
  if (given.startsWith('idea-')) {
    const found = findNamedIdea(campaign, given)
    const name = formatIdeaName(found)
    if (found.status !== 'open' || found.experiment !== null)
      throw new UserError(`${name} was taken up already`, { fix: 'name an idea that is still open' })
    return { name, from: found.priority }
  }
  const { id, status, priority: from } = findNamedExperiment(campaign, given)
  if (status === 'ended') throw new UserError(`${id} has ended: it is measured no more`)
  return { name: id, from }
}
