import type { LedgerEvent } from '../model/event.ts'
import type { ProgressReporter } from '../ports.ts'
import { type EventRenderer, NOTABLE_EVENTS } from '../report/event-line.ts'

export function reportProgress(progress: ProgressReporter, lines: EventRenderer, event: LedgerEvent): void {
  const line = lines.next(event)
  if (NOTABLE_EVENTS.has(event.kind)) progress.say(line)
}
