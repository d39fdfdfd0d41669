import { sha256 } from '../model/canonical.ts'
import { byDraw, isSame, type ItemPair } from './sample.ts'

export type JudgedSide = 'base' | 'candidate' | 'label'

/** One item of one side, as a judge meets it. */
export interface Entry {
  /** All that the judge is told of where it comes from; drawn, so that no item knows its own or another's. */
  key: string
  item: string
  side: JudgedSide
  content: string
}

/** What one judge is shown at once. */
export interface Batch {
  judge: number
  entries: Entry[]
  /** What stands around every item; in none of them. */
  mark: string
}

export interface Judging {
  /** Nobody knew them when the items were printed: an item cannot aim at a place, a neighbour or a mark. */
  coins: string
  batchSize: number
  judges: number
}

type Unkeyed = Omit<Entry, 'key'>

/**
 * Invariant 10: an item's coin says which of its sides is judged in the first half and which in the second, each half
 * in an order of its own, both sides mixed in every batch. Under equal behaviour each side is as likely to be judged
 * early as late, and among these neighbours as among those, whatever the judge makes of it. The two sides of an item
 * are never shown together, so that each is scored by the rubric and not by its likeness. Every judge has other coins.
 */
export function batchesOf(pairs: readonly ItemPair[], judging: Judging): Batch[] {
  return judgesIn(judging).flatMap(judge => {
    const chance = `${judging.coins}:judge:${judge}`
    const firsts = new Map(pairs.map(({ id }) => [id, firstSide(chance, id)]))
    const half = (first: boolean) => {
      const shown = first ? pairs : pairs.filter(pair => !isSame(pair))
      return byDraw(shown, ({ id }) => id, `${chance}:${first ? 'first' : 'second'}`).map((pair): Unkeyed => {
        const side = first === (firsts.get(pair.id) === 'base') ? 'base' : 'candidate'
        return { item: pair.id, side, content: pair[side].content }
      })
    }
    return [true, false].flatMap(first =>
      chunked(half(first), judging.batchSize).map(entries => keyed(entries, judge, chance)),
    )
  })
}

/** Which side of an item this judge meets first. */
export function firstOf(judging: Pick<Judging, 'coins'>, judge: number, id: string): 'base' | 'candidate' {
  return firstSide(`${judging.coins}:judge:${judge}`, id)
}

/** Items that people have scored, for the judges to score as well. */
export function labelBatches(labels: readonly { id: string; content: string }[], judging: Judging): Batch[] {
  return judgesIn(judging).flatMap(judge => {
    const chance = `${judging.coins}:labels:${judge}`
    const entries = byDraw(labels, ({ id }) => id, chance).map(({ id, content }): Unkeyed => {
      return { item: id, side: 'label', content }
    })
    return chunked(entries, judging.batchSize).map(each => keyed(each, judge, chance))
  })
}

/** One entry by itself, after its batch gave no score for it. */
export function aloneIn({ judge, mark }: Batch, entry: Entry): Batch {
  return { judge, mark, entries: [entry] }
}

function judgesIn({ judges }: Judging): number[] {
  return Array.from({ length: judges }, (_, judge) => judge)
}

function firstSide(chance: string, id: string): 'base' | 'candidate' {
  return Number.parseInt(sha256(`${chance}:side:${id}`).slice(0, 8), 16) % 2 === 0 ? 'base' : 'candidate'
}

function chunked<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}

function keyed(entries: readonly Unkeyed[], judge: number, chance: string): Batch {
  const taken = new Set<string>()
  return {
    judge,
    mark: unusedIn(entries, chance, 32, new Set()),
    entries: entries.map(entry => {
      const key = unusedIn(entries, `${chance}:key:${entry.side}:${entry.item}`, 8, taken)
      taken.add(key)
      return { key, ...entry }
    }),
  }
}

/** A word that stands in no item; that one has to be drawn again is as good as never needed, and never wrong. */
function unusedIn(
  entries: readonly Unkeyed[],
  chance: string,
  length: number,
  taken: ReadonlySet<string>,
): string {
  for (let draw = 0; ; draw++) {
    const word = sha256(`${chance}:word:${draw}`).slice(0, length)
    if (!taken.has(word) && !entries.some(({ content }) => content.includes(word))) return word
  }
}
