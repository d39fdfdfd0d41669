import type { LedgerEvent } from '../model/event.ts'
import type { Progress } from '../ports.ts'
import { eventLine, OF_INTEREST } from '../report/event-line.ts'

export function sayProgress(progress: Progress, event: LedgerEvent): void {
  if (OF_INTEREST.has(event.kind)) progress.say(eventLine(event))
}
