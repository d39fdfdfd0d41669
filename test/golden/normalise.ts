import type { LedgerEvent } from '../../src/model/event.ts'

/** Text files by path. */
export type Recording = Record<string, string>

export interface RunFacts {
  commits: readonly string[]
  events: readonly LedgerEvent[]
  /** Addresses of this run, and what stands for them. */
  addresses: Readonly<Record<string, string>>
}

/**
 * Names commits, events and what is hashed from them by number, so that a changed word changes one line and not every
 * id after it. The ids themselves reproduce: clock, chance and reports are fixed. Everything else stays as it is.
 */
export function normalise(files: Recording, { commits, events, addresses }: RunFacts): Recording {
  const nameIds = idNames(commits, events)
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const local = Object.entries(addresses).reduce(
        (result, [from, to]) => result.replaceAll(from, to),
        text,
      )
      return [path, nameIds(local)]
    }),
  )
}

/** Events, and so orders, and their hashes by their own number; commits as they first appear. */
function idNames(commits: readonly string[], events: readonly LedgerEvent[]): (text: string) => string {
  const names = new Map(events.map(({ id, seq }) => [id, `event ${seq}`]))
  for (const { prev, seq } of events) if (prev !== null) names.set(prev, `hash of event ${seq - 1}`)
  const unnamed = new Set(commits)
  let named = 0

  function nameOf(digits: string): string | null {
    const isMeant = (id: string) => id.startsWith(digits)
    const known = names.has(digits) ? digits : [...names.keys()].find(isMeant)
    const id = known ?? (unnamed.has(digits) ? digits : [...unnamed].find(isMeant))
    if (id === undefined) return null
    if (unnamed.delete(id)) names.set(id, `commit ${++named}`)
    return digits.length === id.length ? `<${names.get(id)}>` : `<${names.get(id)}:${digits.length}>`
  }

  return text =>
    text.replaceAll(/(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])/g, digits => nameOf(digits) ?? digits)
}
