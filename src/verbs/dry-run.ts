import type { RefUpdate } from '../git/push.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { CampaignRefs } from '../model/refs.ts'
import { toShortId } from '../report/event-line.ts'
import { toPlainJson } from '../report/plain-text.ts'
import type { Call } from './call.ts'
import { readPushedEvents } from './pushed-events.ts'
import type { DryRun } from './rehearsal.ts'

/**
 * What --dry-run answers: every push that would have been made, with its events and its ref moves, and every file.
 * With --json that is the one document on stdout, or goes beside the verb's own.
 */
export async function printDryRun(
  call: Call,
  { repository, pushes, files, answered }: DryRun,
  refs: CampaignRefs,
): Promise<void> {
  const told = await Promise.all(pushes.map(updates => Promise.all(updates.map(each => toldOf(each)))))
  const { terminal, given } = call
  if (given.flag('json') && !answered) return terminal.json({ dry_run: true, files, pushes: told })
  const say = selectSentenceOutput(call)
  const nothing = pushes.length + files.length === 0
  say(nothing ? 'Nothing would be written.' : 'Nothing was written. It would be:')
  for (const file of files) say(`file ${file}`)
  for (const push of told) {
    say('one push')
    for (const line of push.flatMap(renderUpdate)) say(`  ${line}`)
  }

  async function toldOf(update: RefUpdate): Promise<DescribedUpdate> {
    const events = update.ref === refs.state ? await readPushedEvents(repository, update) : []
    return { ...update, events: events.map(toWrittenEvent) }
  }
}

/** Where stdout belongs to one JSON document, sentences go to stderr. */
export function selectSentenceOutput({ terminal, given }: Call): (line: string) => void {
  return line => (given.flag('json') ? terminal.err(line) : terminal.out(line))
}

interface DescribedUpdate extends RefUpdate {
  events: ReturnType<typeof toWrittenEvent>[]
}

/** Without what is only known when it is written. */
function toWrittenEvent({ id: _id, at: _at, by: _by, prev: _prev, ...event }: LedgerEvent) {
  return event
}

function renderUpdate({ events, ...update }: DescribedUpdate): string[] {
  const lines = events.map(({ seq, kind, ...payload }) => `event ${seq} ${kind} ${toPlainJson(payload)}`)
  return [...lines, describeRefMove(update)]
}

function describeRefMove({ ref, from, to }: RefUpdate): string {
  if (to === null) return `${ref} ${toShortId(from ?? '')} -> deleted`
  return from === null
    ? `${ref} created at ${toShortId(to)}`
    : `${ref} ${toShortId(from)} -> ${toShortId(to)}`
}
