import type { RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { CampaignRefs } from '../model/refs.ts'
import { short } from '../report/event-line.ts'
import { plainJson } from '../report/plain-text.ts'
import type { Terminal } from './call.ts'
import { pushedEvents } from './pushed-events.ts'
import type { Rehearsal } from './rehearsal.ts'

/** What --dry-run answers: every push that would have been made, with its events and its ref moves, and every file. */
export async function describeRehearsal(
  terminal: Terminal,
  { repository, pushes, files }: Rehearsal,
  refs: CampaignRefs,
): Promise<void> {
  const nothing = pushes.length + files.length === 0
  terminal.out(nothing ? 'Nothing would be written.' : 'Nothing was written. It would be:')
  for (const file of files) terminal.out(`file ${file}`)
  for (const updates of pushes) {
    terminal.out('one push')
    for (const line of await linesOf(repository, updates, refs)) terminal.out(`  ${line}`)
  }
}

async function linesOf(
  repository: Repository,
  updates: readonly RefUpdate[],
  refs: CampaignRefs,
): Promise<string[]> {
  const lines: string[] = []
  for (const update of updates) {
    const events = update.ref === refs.state ? await pushedEvents(repository, update) : []
    lines.push(...events.map(eventText), moveText(update))
  }
  return lines
}

function eventText(event: LedgerEvent): string {
  const { seq, id: _id, kind, at: _at, by: _by, prev: _prev, ...payload } = event
  return `event ${seq} ${kind} ${plainJson(payload)}`
}

function moveText({ ref, from, to }: RefUpdate): string {
  if (to === null) return `${ref} ${short(from ?? '')} -> deleted`
  return from === null ? `${ref} created at ${short(to)}` : `${ref} ${short(from)} -> ${short(to)}`
}
