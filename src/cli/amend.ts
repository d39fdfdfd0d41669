import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { applyAmendment } from '../engine/campaign/start.ts'
import { requireCampaign } from '../engine/controller/run.ts'
import { UserError } from '../errors.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { withCampaign } from './context.ts'
import type { CommandContext, Verb } from './verb.ts'

export const amendVerb: Verb = {
  name: 'amend',
  group: 'more',
  summary: 'apply the uncommitted spec of your working tree to the running campaign',
  access: 'write',
  options: [
    {
      name: 'message',
      short: 'm',
      value: 'reason',
      summary: 'why the spec changes; recorded in the ledger (required)',
    },
  ],
  examples: ['winnow amend -m "tests may take longer"'],
  run: call =>
    withCampaign(call, { access: 'write', startedOnly: true, announce: true }, async context => {
      const reason = call.given.text('message')
      if (reason === undefined || reason.trim() === '') {
        throw new UserError('an amendment needs a reason', { fix: 'winnow amend -m "…"' })
      }
      const yaml = await readWorkTreeSpec(context)
      const { measuredAnew } = await applyAmendment(context.campaignContext, { yaml, reason })
      if (context.dryRun === null)
        call.terminal.out(`The spec is amended.${measuredAnew ? REMEASURED_NOTE : ''}`)
      return 0
    }),
}

const REMEASURED_NOTE =
  ' The measurement changed, so winnow measures the baseline and all open experiments again.'

async function readWorkTreeSpec({ campaignContext }: CommandContext): Promise<string> {
  const { spec_path: path } = (await requireCampaign(campaignContext)).loaded.campaign
  const text =
    campaignContext.checkout === null
      ? null
      : await readFile(resolve(campaignContext.checkout, path), 'utf8').catch(toNullIfMissing)
  if (text !== null) return text
  throw new UserError(`${path} is not in a work tree here`, {
    place: { file: path },
    fix: 'run winnow amend in a checkout that has the changed spec',
  })
}
