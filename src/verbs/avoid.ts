import { recordEvents } from '../engine/record.ts'
import { requireCampaign } from '../engine/session.ts'
import { UserError } from '../errors.ts'
import { toOneLine } from '../model/landing.ts'
import { withCampaign } from './at-campaign.ts'
import type { Verb } from './verb.ts'

const LONGEST = 400

export const avoidVerb: Verb = {
  name: 'avoid',
  group: 'more',
  summary: 'tell proposers what not to try; it stands in their briefs from then on',
  access: 'write',
  arguments: [{ name: 'what', summary: 'in one sentence', required: true, many: true }],
  options: [],
  examples: ['winnow avoid "unrolling loops by hand"'],
  exits: {},
  comment: { options: [] },
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ place, dryRun: rehearsal }) => {
      const reason = toOneLine(call.given.positionals.join(' '), LONGEST)
      if (reason === '') throw new UserError('avoid needs words', { fix: 'winnow avoid "what not to try"' })
      await requireCampaign(place)
      await recordEvents(place, [{ kind: 'steered', action: 'avoid', experiment: null, reason }])
      if (rehearsal === null) call.terminal.out(`Proposers are told to avoid: ${reason}`)
      return 0
    }),
}
