import type { WorkflowRun, Workflows } from '../../forge/port.ts'
import { loadCampaign } from '../../ledger/load.ts'
import type { Campaign } from '../../model/campaign.ts'
import { actionsRunId } from '../../model/parcel.ts'
import type { Place } from '../place.ts'
import { FIRST_ATTEMPT } from './runner.ts'

/**
 * Cancels runs whose orders nobody waits for any more: whoever gave those up may have been cut off before it could
 * (invariant 7). The same for a second run of an order, which two ticks at once may have asked for: its report would
 * not count. The ledger is read again, after the runs were listed: it has every order before its run is asked for.
 */
export async function cancelUnwanted(
  { repository, refs }: Pick<Place, 'repository' | 'refs'>,
  workflows: Workflows,
  { underWay, known }: { underWay: readonly WorkflowRun[]; known: Campaign },
): Promise<void> {
  if (underWay.every(run => isWanted(known, run))) return
  const tip = (await repository.remoteRefs([refs.state])).refs.get(refs.state)
  if (tip === undefined) return
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const { campaign } = await loadCampaign(repository, tip)
  for (const run of underWay) if (!isWanted(campaign, run)) await workflows.cancel(run.id)
}

function isWanted({ orders }: Campaign, { id, name }: WorkflowRun): boolean {
  const live = Object.hasOwn(orders, name) ? orders[name] : undefined
  return live !== undefined && (live.run_id === null || live.run_id === actionsRunId(id, FIRST_ATTEMPT))
}
