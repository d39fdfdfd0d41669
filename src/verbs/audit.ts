import { audit as auditCampaign } from '../engine/audit.ts'
import { auditText } from '../report/proof-text.ts'
import { atCampaign } from './at-campaign.ts'
import type { Verb } from './verb.ts'

export const audit: Verb = {
  name: 'audit',
  group: 'more',
  summary: 'show from git alone that every commit on the optimize branch was measured as recorded',
  access: 'read',
  arguments: [{ name: 'campaign', summary: 'which one, where there are several', required: false }],
  options: [],
  examples: ['winnow audit', 'winnow audit parser --json'],
  exits: { 1: 'something does not fit' },
  run: call =>
    atCampaign(
      call,
      { access: 'read', startedOnly: true, spec: call.given.positionals[0] },
      async ({ place }) => {
        const result = await auditCampaign(place)
        if (call.given.flag('json')) call.terminal.json(result)
        else for (const line of auditText(result)) call.terminal.out(line)
        return result.ok ? 0 : 1
      },
    ),
}
