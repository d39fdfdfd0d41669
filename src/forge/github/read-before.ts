import type { PullQuery } from '../port.ts'
import type { KnownPull } from './pull-node.ts'

interface PullCacheEntry {
  moment: string
  wanted: PullQuery
  whole: KnownPull[]
}

/** Pull requests as this process has read them, for as long as nothing that is known of has moved since. */
export class PullCache {
  #look: PullCacheEntry | null = null
  #pulls = new Map<number, KnownPull>()

  /** Where an earlier look of the same moment has everything that is wanted now. */
  find(moment: string | undefined, wanted: PullQuery): KnownPull[] | null {
    const look = this.#look
    if (look === null || look.moment !== moment) return null
    return hasAll(look, wanted) ? look.whole : null
  }

  keep(
    look: { moment: string | undefined; wanted: PullQuery; whole: KnownPull[] },
    read: readonly KnownPull[],
  ) {
    const { moment } = look
    this.#look = moment === undefined ? null : { ...look, moment }
    this.#pulls = new Map(moment === undefined ? [] : read.map(each => [each.pull.number, each]))
  }

  /** What is about to be changed: it is known no more. */
  take(numbers: Iterable<number>): Map<number, KnownPull> {
    this.#look = null
    const taken = new Map<number, KnownPull>()
    for (const number of numbers) {
      const known = this.#pulls.get(number)
      if (known) taken.set(number, known)
      this.#pulls.delete(number)
    }
    return taken
  }

  forget(): void {
    this.#look = null
    this.#pulls.clear()
  }
}

/** A look may have been for more than is wanted now, and it showed all that were open. */
function hasAll({ wanted: before, whole }: PullCacheEntry, wanted: PullQuery): boolean {
  const numbers = new Set([...(before.numbers ?? []), ...whole.map(({ pull }) => pull.number)])
  const branches = new Set(before.branches)
  const elsewhere = new Set((before.elsewhere ?? []).map(each => JSON.stringify(each)))
  return (
    (wanted.numbers ?? []).every(number => numbers.has(number)) &&
    (wanted.branches ?? []).every(branch => branches.has(branch)) &&
    (wanted.elsewhere ?? []).every(each => elsewhere.has(JSON.stringify(each))) &&
    (wanted.recent ?? 0) <= (before.recent ?? 0) &&
    JSON.stringify([...(wanted.read ?? [])]) === JSON.stringify([...(before.read ?? [])])
  )
}
