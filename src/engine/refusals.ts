import type { ForgeError } from '../errors.ts'
import { DISPATCH_REFUSED } from '../model/dispatch-refused.ts'
import type { Memory } from './memory.ts'
import type { Place } from './place.ts'
import { record } from './record.ts'

interface Refused {
  place: Place
  memory: Memory
}

/** Said once for each reason; however a tick ends, whoever began it hears that not everything was done. */
export function noteRefusal({ place, memory }: Refused, error: ForgeError): void {
  if (memory.refusals.has(error.message)) return
  memory.refusals.set(error.message, error)
  place.progress.say(error.message)
}

/** Nothing can be measured: that stands in the ledger, once for each reason, until something is. */
export async function alertOf({ place, memory }: Refused, { message }: ForgeError): Promise<void> {
  const alerts = memory.loaded?.campaign.alerts ?? []
  if (alerts.some(alert => alert.code === DISPATCH_REFUSED && alert.message === message)) return
  await record(place, [{ kind: 'alert', code: DISPATCH_REFUSED, message, about: null }])
  memory.refs = null
}
