import type { PushResult, RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import { continueEvents, readEvents, readTip } from '../ledger/read-events.ts'
import type { LedgerEvent } from '../model/event.ts'
import type { CampaignRefs, Oid } from '../model/ids.ts'
import { toShortId } from '../report/event-log.ts'
import { toPlainJson } from '../report/markdown.ts'
import type { Call, DryRun } from './verb.ts'

/** Accepts every push without making it, so that the real code runs and no ref moves. */
export function createDryRun(real: Repository): DryRun {
  const pushes: (readonly RefUpdate[])[] = []
  const moved = new Map<string, Oid | null>()
  const made = new Set<Oid>()

  async function remoteRefs(patterns?: readonly string[]) {
    const seen = await real.remoteRefs(patterns)
    const refs = new Map(seen.refs)
    for (const [ref, to] of moved) {
      if (!isWantedRef(ref, patterns)) continue
      if (to === null) refs.delete(ref)
      else refs.set(ref, to)
    }
    return { head: seen.head, refs }
  }

  async function push(updates: readonly RefUpdate[]): Promise<PushResult> {
    if (updates.length === 0) return { ok: true }
    const names = updates.map(({ ref }) => ref)
    const { refs } = await remoteRefs(names)
    const lost = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from)
    if (lost.length > 0) return { ok: false, reason: 'lease', refs: lost.map(({ ref }) => ref) }
    const [held] = await real.worktreesHolding(names)
    if (held) return { ok: false, reason: 'checked-out', ref: held.branch, worktree: held.path }
    pushes.push(updates)
    for (const { ref, to } of updates) {
      moved.set(ref, to)
      if (to !== null) made.add(to)
    }
    return { ok: true }
  }

  const fetch: Repository['fetch'] = tips => real.fetch(tips.filter(({ oid }) => !made.has(oid)))
  return { pushes, files: [], printed: false, repository: { ...real, remoteRefs, fetch, push } }
}

function isWantedRef(ref: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined || patterns.length === 0) return true
  return patterns.some(pattern =>
    pattern.endsWith('*') ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern,
  )
}

/**
 * Prints every push with its events and ref moves, and every file. With --json, prints one document on stdout, or
 * sentences on stderr if the verb has printed its own JSON.
 */
export async function printDryRun(
  call: Call,
  { repository, pushes, files, printed }: DryRun,
  refs: CampaignRefs,
): Promise<void> {
  const described = await Promise.all(
    pushes.map(updates => Promise.all(updates.map(each => describeUpdate(each)))),
  )
  const { terminal, given } = call
  if (given.flag('json') && !printed) return terminal.json({ dry_run: true, files, pushes: described })
  const print = selectSentenceOutput(call)
  const nothing = pushes.length + files.length === 0
  print(nothing ? 'Nothing would be written.' : 'Nothing was written. It would write:')
  for (const file of files) print(`file ${file}`)
  for (const push of described) {
    print('one push')
    for (const line of push.flatMap(renderUpdate)) print(`  ${line}`)
  }

  async function describeUpdate(update: RefUpdate): Promise<DescribedUpdate> {
    const events = update.ref === refs.state ? await readPushedEvents(repository, update) : []
    return { ...update, events: events.map(toWrittenEvent) }
  }
}

/** With --json, stdout carries one JSON document, so sentences go to stderr. */
export function selectSentenceOutput({ terminal, given }: Call): (line: string) => void {
  return line => (given.flag('json') ? terminal.err(line) : terminal.out(line))
}

interface DescribedUpdate extends RefUpdate {
  events: ReturnType<typeof toWrittenEvent>[]
}

/** Omits fields that get their value only when the event is written. */
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

/** Returns all events if the update replaced the ledger. */
async function readPushedEvents(
  repository: Repository,
  { from, to }: Pick<RefUpdate, 'from' | 'to'>,
): Promise<LedgerEvent[]> {
  if (to === null) return []
  const continued = from !== null && (await repository.isAncestor(from, to))
  const { tree } = await repository.commit(to)
  const events = continued
    ? continueEvents(repository, tree, await readTip(repository, from))
    : readEvents(repository, to, 0)
  const found: LedgerEvent[] = []
  for await (const event of events) found.push(event)
  return found
}

export function announceEvents(
  repository: Repository,
  ledger: (ref: string) => boolean,
  report: (event: LedgerEvent) => void,
): Repository {
  return {
    ...repository,
    async push(updates, how) {
      const result = await repository.push(updates, how)
      const move = result.ok ? updates.find(({ ref }) => ledger(ref)) : undefined
      if (move) for (const event of await readPushedEvents(repository, move)) report(event)
      return result
    },
  }
}
