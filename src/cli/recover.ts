import { forgetLostBranches, rebuildViews, recoverBranches } from '../engine/campaign/recover.ts'
import { withCampaign } from './context.ts'
import type { Verb } from './verb.ts'

export const recoverVerb: Verb = {
  name: 'recover',
  group: 'more',
  summary: 'restore branches of a campaign that were deleted or rewound',
  access: 'write',
  arguments: [],
  options: [
    {
      name: 'forget',
      summary: 'the branches were deleted on purpose; stop offering to restore them',
    },
  ],
  examples: ['winnow recover', 'winnow recover --dry-run'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: false }, async ({ campaignContext, dryRun }) => {
      if (call.given.flag('forget')) {
        if (dryRun === null) forgetLostBranches(campaignContext)
        call.terminal.out(`What the cache has of campaign ${campaignContext.name} is not offered any more.`)
        return 0
      }
      const recovered = await recoverBranches(campaignContext)
      if (dryRun !== null) return 0
      for (const { branch, to, what } of recovered) call.terminal.out(`Put ${branch} back at ${to}: ${what}.`)
      if (recovered.length === 0) call.terminal.out('Nothing to restore: every branch matches the ledger.')
      return 0
    }),
}

export const rebuildVerb: Verb = {
  name: 'rebuild',
  group: 'more',
  summary: 'write the views and the checkpoint of the ledger again',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow rebuild'],
  exits: {},
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true }, async ({ campaignContext, dryRun }) => {
      const changed = await rebuildViews(campaignContext)
      if (dryRun === null)
        call.terminal.out(
          changed
            ? 'Wrote the views and the checkpoint again.'
            : 'The views and the checkpoint are up to date.',
        )
      return 0
    }),
}
