import type { ForgeError } from '../errors.ts'
import { DISPATCH_REFUSED } from '../model/dispatch-refused.ts'
import type { Memory } from './memory.ts'
import type { CampaignContext } from './place.ts'
import { recordEvents } from './record.ts'

interface RefusalContext {
  place: CampaignContext
  memory: Memory
}

/** Said once for each reason; however a tick ends, whoever began it hears that not everything was done. */
export function reportRefusal({ place, memory }: RefusalContext, error: ForgeError): void {
  if (memory.refusals.has(error.message)) return
  memory.refusals.set(error.message, error)
  place.progress.say(error.message)
}

/** Nothing can be measured: that stands in the ledger, once for each reason, until something is. */
export async function recordRefusalAlert(
  { place, memory }: RefusalContext,
  { message }: ForgeError,
): Promise<void> {
  const alerts = memory.loaded?.campaign.alerts ?? []
  if (alerts.some(alert => alert.code === DISPATCH_REFUSED && alert.message === message)) return
  await recordEvents(place, [{ kind: 'alert', code: DISPATCH_REFUSED, message, about: null }])
  memory.refs = null
}
