import type { Item } from '../measure/output/harness-output.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import { drawTurns } from '../model/order.ts'

export type PairSide = 'base' | 'candidate'
type JudgedSide = PairSide | 'label'

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

/** One item as both sides printed it: what is compared. */
export interface ItemPair {
  id: string
  base: Item
  candidate: Item
}

/** Both sides printed the same: whatever told them apart would be noise, so that one score is that of both. */
export function isSame({ base, candidate }: ItemPair): boolean {
  return base.content === candidate.content
}

export interface Sampling {
  sampleSize: number
  /** Null: uniform. */
  stratification: readonly { bucket: string; count: number }[] | null
  seed: number
}

export interface ItemSample {
  pairs: ItemPair[]
  /** Buckets that have fewer items than were asked of them. */
  short: { bucket: string; wanted: number; found: number }[]
  /** What only one side printed: nothing to compare, only gates look at it. */
  onlyBase: string[]
  onlyCandidate: string[]
}

/**
 * Which items are scored, by the seed alone: in whatever order they were printed, and as far as they are there the
 * same ones for every candidate.
 */
export function drawSample(
  base: readonly Item[],
  candidate: readonly Item[],
  sampling: Sampling,
): ItemSample {
  const others = new Map(candidate.map(item => [item.id, item]))
  const known = new Set(base.map(({ id }) => id))
  const matched = base.flatMap((item): ItemPair[] => {
    const other = others.get(item.id)
    return other === undefined ? [] : [{ id: item.id, base: item, candidate: other }]
  })
  const { pairs, short } = drawPairs(matched, sampling)
  return {
    pairs,
    short,
    onlyBase: base.flatMap(({ id }) => (others.has(id) ? [] : [id])),
    onlyCandidate: candidate.flatMap(({ id }) => (known.has(id) ? [] : [id])),
  }
}

/**
 * One of several samples that share no item, each drawn from what those before it left. What was scored once says
 * nothing new the second time: a change that is good for the items of one sample by chance is not for those of another.
 */
export function drawFreshSample(
  base: readonly Item[],
  candidate: readonly Item[],
  { seeds, ...how }: Omit<Sampling, 'seed'> & { seeds: readonly [number, ...number[]] },
): ItemSample {
  const [first, ...later] = seeds
  let sample = drawSample(base, candidate, { ...how, seed: first })
  const taken = new Set<string>()
  const left = (items: readonly Item[]) => items.filter(({ id }) => !taken.has(id))
  for (const seed of later) {
    for (const { id } of sample.pairs) taken.add(id)
    sample = drawSample(left(base), left(candidate), { ...how, seed })
  }
  return sample
}

/** Strata first; what they leave of the sample is drawn from all that is left. */
function drawPairs(matched: readonly ItemPair[], { sampleSize, stratification, seed }: Sampling) {
  const left = sortByDraw(matched, ({ id }) => id, `sample:${seed}`)
  const pairs: ItemPair[] = []
  const short: ItemSample['short'] = []
  const strata = stratification ?? []
  for (const { bucket, count } of strata) {
    // A candidate that could name its bucket could choose what it is compared in.
    const found = left.filter(pair => pair.base.bucket === bucket).slice(0, count)
    for (const pair of found) pairs.push(...left.splice(left.indexOf(pair), 1))
    if (found.length < count) short.push({ bucket, wanted: count, found: found.length })
  }
  const asked = strata.reduce((sum, { count }) => sum + count, 0)
  pairs.push(...left.slice(0, Math.max(0, sampleSize - asked)))
  return { pairs, short }
}

/** In an order that chance alone decides, and the same for the same chance. */
function sortByDraw<T>(all: readonly T[], idOf: (one: T) => string, chance: string): T[] {
  const drawn = new Map(all.map(one => [one, hashSha256(`${chance}:${idOf(one)}`)]))
  return all.toSorted((a, b) => ((drawn.get(a) ?? '') < (drawn.get(b) ?? '') ? -1 : 1))
}
