import { hashSha256 } from '../model/canonical.ts'
import { drawTurns } from '../model/coins.ts'
import { sortByDraw, isSame, type ItemPair } from './sample.ts'

export type PairSide = 'base' | 'candidate'
export type JudgedSide = PairSide | 'label'

/** One item of one side, as a judge meets it. */
export interface BatchEntry {
  /** All that the judge is told of where it comes from; drawn, so that no item knows its own or another's. */
  key: string
  item: string
  side: JudgedSide
  content: string
}

/** What one judge is shown at once. */
export interface Batch {
  judge: number
  entries: BatchEntry[]
  /** What stands around every item; in none of them. */
  mark: string
}

export interface JudgingPlan {
  /** 64 hex digits that nobody could choose. */
  coins: string
  batchSize: number
  judges: number
}

type Unkeyed = Omit<BatchEntry, 'key'>

/**
 * Invariant 10: items are blocks like runs of a program. Whose turn comes first in one says in which half it is judged,
 * each half in an order of its own, both sides mixed. Under equal behaviour each side is as likely to be judged
 * early as late, and among these neighbours as among those, whatever the judge makes of it. The two sides of an item
 * are never shown together, so that each is scored by the rubric and not by its likeness. Every judge has other coins.
 */
export function buildBatches(pairs: readonly ItemPair[], judging: JudgingPlan): Batch[] {
  return listJudges(judging).flatMap(judge => {
    const chance = `${judging.coins}:judge:${judge}`
    const blocks = pairs.map((pair, block) => ({ pair, sides: orderSides(judging, judge, block) }))
    return ([0, 1] as const).flatMap(half => {
      const shown = half === 0 ? blocks : blocks.filter(({ pair }) => !isSame(pair))
      const entries = sortByDraw(shown, ({ pair }) => pair.id, `${chance}:half:${half}`).map(
        ({ pair, sides }): Unkeyed => {
          const side = sides[half]
          return { item: pair.id, side, content: pair[side].content }
        },
      )
      return chunkItems(entries, judging.batchSize).map(each => assignKeys(each, judge, chance))
    })
  })
}

/** The two sides of the item that is this block, in the order in which this judge meets them. */
export function orderSides(
  { coins }: Pick<JudgingPlan, 'coins'>,
  judge: number,
  block: number,
): [first: PairSide, second: PairSide] {
  const own = judge === 0 ? coins : hashSha256(`${coins}:judge:${judge}`)
  const [first] = drawTurns({ coins: own }, block, [true, false])
  return first === true ? ['base', 'candidate'] : ['candidate', 'base']
}

/** Items that people have scored, for the judges to score as well. */
export function buildLabelBatches(
  labels: readonly { id: string; content: string }[],
  judging: JudgingPlan,
): Batch[] {
  return listJudges(judging).flatMap(judge => {
    const chance = `${judging.coins}:labels:${judge}`
    const entries = sortByDraw(labels, ({ id }) => id, chance).map(({ id, content }): Unkeyed => {
      return { item: id, side: 'label', content }
    })
    return chunkItems(entries, judging.batchSize).map(each => assignKeys(each, judge, chance))
  })
}

/** One entry by itself, after its batch gave no score for it. */
export function toSingleBatch({ judge, mark }: Batch, entry: BatchEntry): Batch {
  return { judge, mark, entries: [entry] }
}

function listJudges({ judges }: JudgingPlan): number[] {
  return Array.from({ length: judges }, (_, judge) => judge)
}

function chunkItems<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}

/**
 * Words are drawn from the coins and from all that is shown: even who knew the coins could not print what depends on
 * what they print, and aim at a mark or at another item.
 */
function assignKeys(entries: readonly Unkeyed[], judge: number, chance: string): Batch {
  const words = hashSha256(`${chance}:${entries.map(({ content }) => hashSha256(content)).join(':')}`)
  const taken = new Set<string>()
  return {
    judge,
    mark: drawUnusedWord(entries, words, 32, taken),
    entries: entries.map(entry => {
      const key = drawUnusedWord(entries, `${words}:key:${entry.side}:${entry.item}`, 8, taken)
      taken.add(key)
      return { key, ...entry }
    }),
  }
}

/** A word that stands in no item; that one has to be drawn again is as good as never needed, and never wrong. */
function drawUnusedWord(
  entries: readonly Unkeyed[],
  chance: string,
  length: number,
  taken: ReadonlySet<string>,
): string {
  for (let draw = 0; ; draw++) {
    const word = hashSha256(`${chance}:word:${draw}`).slice(0, length)
    if (!taken.has(word) && !entries.some(({ content }) => content.includes(word))) return word
  }
}
