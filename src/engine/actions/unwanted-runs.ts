import type { WorkflowRun, Workflows } from '../../forge/port.ts'
import { loadCampaign } from '../../ledger/load.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Place } from '../place.ts'

/**
 * Cancels runs whose orders nobody waits for any more: whoever gave those up may have been cut off before it could
 * (invariant 7). The ledger is read again, after the runs were listed: it has every order before its run is asked for.
 */
export async function cancelUnwanted(
  { repository, refs }: Pick<Place, 'repository' | 'refs'>,
  workflows: Workflows,
  { underWay, known }: { underWay: readonly WorkflowRun[]; known: Campaign },
): Promise<void> {
  if (underWay.every(({ name }) => Object.hasOwn(known.orders, name))) return
  const tip = (await repository.remoteRefs([refs.state])).refs.get(refs.state)
  if (tip === undefined) return
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const { orders } = (await loadCampaign(repository, tip)).campaign
  for (const { id, name } of underWay) if (!Object.hasOwn(orders, name)) await workflows.cancel(id)
}
