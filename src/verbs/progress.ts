import type { LedgerEvent } from '../model/event.ts'
import type { Progress } from '../ports.ts'
import { type EventLines, OF_INTEREST } from '../report/event-line.ts'

export function sayProgress(progress: Progress, lines: EventLines, event: LedgerEvent): void {
  const line = lines.next(event)
  if (OF_INTEREST.has(event.kind)) progress.say(line)
}
