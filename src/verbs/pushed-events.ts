import type { RefUpdate } from '../git/push.ts'
import type { Repository } from '../git/repository.ts'
import { readEvents, continueEvents } from '../ledger/read-events.ts'
import { readTip } from '../ledger/tip.ts'
import type { LedgerEvent } from '../model/event.ts'

/** The events that one move of a ledger's ref brought: all of them where another ledger took its place. */
export async function readPushedEvents(
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

/** Tells what the ledger gained after every push of this process that moved it. */
export function announceEvents(
  repository: Repository,
  ledger: (ref: string) => boolean,
  tell: (event: LedgerEvent) => void,
): Repository {
  return {
    ...repository,
    async push(updates, how) {
      const result = await repository.push(updates, how)
      const move = result.ok ? updates.find(({ ref }) => ledger(ref)) : undefined
      if (move) for (const event of await readPushedEvents(repository, move)) tell(event)
      return result
    },
  }
}
