import { ConflictError, UserError } from '../errors.ts'
import { buildCheckpoint } from '../ledger/checkpoint.ts'
import { writeLedgerCommit } from '../ledger/ledger-commit.ts'
import { foldAllEvents } from '../ledger/load.ts'
import { toShortRef } from '../model/refs.ts'
import { renderLedgerViews } from '../report/ledger-views.ts'
import type { CampaignContext } from './place.ts'
import { requireLedger } from './recover.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'

/**
 * Invariant 2: what is derived is made anew from every event, and no event is written. False where the views and
 * the checkpoint are what the events say already.
 */
export async function rebuildViews(place: CampaignContext): Promise<boolean> {
  const { repository, refs } = place
  const from = await requireLedger(place, (await repository.remoteRefs([refs.state])).refs)
  await repository.fetch([{ ref: refs.state, oid: from }])
  const { campaign, tip, lastSha } = await foldAllEvents(repository, from)
  const to = await writeLedgerCommit(repository, tip, [], {
    message: 'ledger: views and checkpoint, made anew',
    views: renderLedgerViews(campaign, getCampaignSpec(campaign)),
    checkpoint: buildCheckpoint(campaign, lastSha),
  })
  if (to === from) return false
  const pushed = await repository.push([{ ref: refs.state, from, to }])
  if (pushed.ok) return true
  if (pushed.reason === 'lease')
    throw new ConflictError('another process wrote to the ledger meanwhile', pushed.refs)
  throw new UserError(
    `${toShortRef(refs.state)} could not be moved: ${'message' in pushed ? pushed.message : pushed.reason}`,
  )
}
