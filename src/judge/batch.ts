import type { Item } from '../measure/output/harness-output.ts'
import { hashSha256 } from '../model/canonical-json.ts'
import type { ScoreRecord } from '../model/event-schemas.ts'
import { drawTurns } from '../model/order.ts'
import type { ProbeLabel } from '../model/probe.ts'

export type PairSide = 'base' | 'candidate'
/** A side that is compared by its mean. */
export type ScoredSide = PairSide | ProbeLabel
type JudgedSide = ScoreRecord['side']

export interface BatchEntry {
  /** Drawn, and all that the judge sees of an item's origin: no item knows its own key or another's. */
  key: string
  item: string
  side: JudgedSide
  content: string
}

export interface Batch {
  judge: number
  entries: BatchEntry[]
  /** Delimits every item; occurs in none of them. */
  mark: string
  /** Present: its items are singletons, which have a rubric of their own. */
  singletons?: { summaries: string | null }
}

export interface JudgingPlan {
  /** 64 hex digits that no participant could choose. */
  coins: string
  batchSize: number
  judges: number
}

type Unkeyed = Omit<BatchEntry, 'key'>

/**
 * Invariant 10: an item is a block, like a run of a program. A drawn coin says in which half each side of an
 * item is judged, and each half mixes both sides in its own order. Under equal behaviour each side is as
 * likely to be judged early as late, and next to the same neighbours. The two sides of an item are never
 * shown together, so each is scored by the rubric and not by comparison. Every judge has its own coins.
 */
export function buildBatches(pairs: readonly ItemPair[], judging: JudgingPlan): Batch[] {
  return buildInterleavedBatches(judging, judge => {
    const seed = `${judging.coins}:judge:${judge}`
    const blocks = pairs.map((pair, block) => ({ pair, sides: orderSides(judging, judge, block) }))
    return ([0, 1] as const).flatMap(half => {
      const shown = half === 0 ? blocks : blocks.filter(({ pair }) => !isSame(pair))
      const sorted = sortByDraw(shown, ({ pair }) => pair.id, `${seed}:half:${half}`)
      const entries = sorted.map(({ pair, sides }): Unkeyed => {
        const side = sides[half]
        return { item: pair[side].id, side, content: pair[side].content }
      })
      return chunkItems(entries, judging.batchSize).map(each => assignKeys(each, judge, seed))
    })
  })
}

/** The items that one side shows by itself, where sides are compared by their means. */
export interface SideItems<S extends ScoredSide = ScoredSide> {
  side: S
  items: readonly Item[]
}

/** Both sides mixed, in an order that coins draw for each judge. */
export function buildSideBatches(sides: readonly SideItems[], judging: JudgingPlan): Batch[] {
  const entries = sides.flatMap(({ side, items }) =>
    items.map(({ id, content }): Unkeyed => ({ item: id, side, content })),
  )
  return buildInterleavedBatches(judging, judge => {
    const seed = `${judging.coins}:judge:${judge}`
    const drawn = sortByDraw(entries, ({ item, side }) => `${side}:${item}`, seed)
    return chunkItems(drawn, judging.batchSize).map(each => assignKeys(each, judge, seed))
  })
}

/** The summaries tell the sides apart, so each side has batches of its own. */
export function buildSingletonBatches(
  { side, items }: SideItems<PairSide>,
  summaries: string | null,
  judging: JudgingPlan,
): Batch[] {
  return buildInterleavedBatches(judging, judge => {
    const seed = `${judging.coins}:singletons:${side}:${judge}`
    const entries = items.map(
      ({ id, content }): Unkeyed => ({ item: id, side: `${side}-singleton`, content }),
    )
    return chunkItems(entries, judging.batchSize).map(each => ({
      ...assignKeys(each, judge, seed, summaries ?? ''),
      singletons: { summaries },
    }))
  })
}

export function orderSides(
  { coins }: Pick<JudgingPlan, 'coins'>,
  judge: number,
  block: number,
): [first: PairSide, second: PairSide] {
  const own = judge === 0 ? coins : hashSha256(`${coins}:judge:${judge}`)
  const [first] = drawTurns({ coins: own }, block, [true, false])
  return first === true ? ['base', 'candidate'] : ['candidate', 'base']
}

export function buildLabelBatches(
  labels: readonly { id: string; content: string }[],
  judging: JudgingPlan,
): Batch[] {
  return buildInterleavedBatches(judging, judge => {
    const seed = `${judging.coins}:labels:${judge}`
    const entries = sortByDraw(labels, ({ id }) => id, seed).map(({ id, content }): Unkeyed => {
      return { item: id, side: 'label', content }
    })
    return chunkItems(entries, judging.batchSize).map(each => assignKeys(each, judge, seed))
  })
}

/** The judges take turns, so that none of them scores everything early or late. */
function buildInterleavedBatches({ judges }: JudgingPlan, build: (judge: number) => Batch[]): Batch[] {
  const all = Array.from({ length: judges }, (_, judge) => build(judge))
  const turns = Math.max(0, ...all.map(({ length }) => length))
  return Array.from({ length: turns }, (_, turn) => all.flatMap(own => own[turn] ?? [])).flat()
}

function chunkItems<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) =>
    all.slice(at * size, (at + 1) * size),
  )
}

/**
 * Marks and keys are drawn from the coins and from all shown content. A program that knew the coins could
 * still not print its own mark or another item's key, because both depend on the printed text.
 */
function assignKeys(entries: readonly Unkeyed[], judge: number, seedPrefix: string, beside = ''): Batch {
  const texts = [...entries.map(({ content }) => content), ...(beside === '' ? [] : [beside])]
  const seed = hashSha256(`${seedPrefix}:${texts.map(hashSha256).join(':')}`)
  const taken = new Set<string>()
  return {
    judge,
    mark: drawUnusedWord(texts, seed, 32, taken),
    entries: entries.map(entry => {
      const key = drawUnusedWord(texts, `${seed}:key:${entry.side}:${entry.item}`, 8, taken)
      taken.add(key)
      return { key, ...entry }
    }),
  }
}

/** Draws a word that occurs in no text. A second draw is practically never needed. */
function drawUnusedWord(
  texts: readonly string[],
  chance: string,
  length: number,
  taken: ReadonlySet<string>,
): string {
  for (let draw = 0; ; draw++) {
    const word = hashSha256(`${chance}:word:${draw}`).slice(0, length)
    if (!taken.has(word) && !texts.some(text => text.includes(word))) return word
  }
}

// Samples

/** `id` is that of the base. Items that were matched at random have two ids. */
export interface ItemPair {
  id: string
  base: Item
  candidate: Item
}

/** If both sides printed the same text, they share one score: a difference would be noise. */
export function isSame({ base, candidate }: ItemPair): boolean {
  return base.id === candidate.id && base.content === candidate.content
}

export interface Sampling {
  sampleSize: number
  /** Null: uniform. */
  stratification: readonly { bucket: string; count: number }[] | null
  seed: number
}

export interface ItemSample {
  pairs: ItemPair[]
  /** Buckets with fewer items than requested. */
  short: { bucket: string; wanted: number; found: number }[]
  /** Items that only one side printed. Only gates look at them. */
  onlyBase: string[]
  onlyCandidate: string[]
}

/**
 * The seed alone selects the items, independent of their printed order. Every candidate gets the same items
 * as far as it printed them.
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
 * Samples of later seeds share no item with earlier ones. Scoring an item twice gives no new evidence: a
 * change that helps the items of one sample by chance does not help those of another.
 */
export function drawFreshSample(
  base: readonly Item[],
  candidate: readonly Item[],
  { seeds, ...sampling }: Omit<Sampling, 'seed'> & { seeds: readonly [number, ...number[]] },
): ItemSample {
  const [first, ...later] = seeds
  let sample = drawSample(base, candidate, { ...sampling, seed: first })
  const taken = new Set<string>()
  const left = (items: readonly Item[]) => items.filter(({ id }) => !taken.has(id))
  for (const seed of later) {
    for (const { id } of sample.pairs) taken.add(id)
    sample = drawSample(left(base), left(candidate), { ...sampling, seed })
  }
  return sample
}

// Sides with items of their own

interface SideSampling extends Omit<Sampling, 'seed'> {
  /** A program that knows it can choose the ids that are drawn. */
  seed: string
}

/** Draws from the buckets, and fills up with others where a bucket has too few. */
export function drawSideSample(items: readonly Item[], sampling: SideSampling): Item[] {
  return drawSlots(items, sampling).flatMap(item => item ?? [])
}

/** One slot for each item of the sample; null: none is left for it. */
function drawSlots(items: readonly Item[], { sampleSize, stratification, seed }: SideSampling) {
  const left = sortByDraw(items, ({ id }) => id, `sample:${seed}`)
  const slots: (Item | null)[] = (stratification ?? []).flatMap(({ bucket, count }) => {
    const found = left.filter(item => item.bucket === bucket).slice(0, count)
    for (const item of found) left.splice(left.indexOf(item), 1)
    return Array.from({ length: count }, (_, at) => found[at] ?? null)
  })
  while (slots.length < sampleSize) slots.push(null)
  return slots.map(slot => slot ?? left.shift() ?? null)
}

/**
 * Two samples: each side's items are drawn by themselves and matched in the order of the draw, within their
 * buckets. Under equal behaviour each is as likely to be the better one of its pair, so the evidence reads
 * such pairs like those of one item. The n-th sample shares no item with those before it.
 */
export function drawRandomPairs(
  base: readonly Item[],
  candidate: readonly Item[],
  { sample, ...sampling }: SideSampling & { sample: number },
): ItemPair[] {
  let [leftBase, leftCandidate] = [base, candidate]
  for (let n = 0; ; n++) {
    const [own, other] = [leftBase, leftCandidate].map((items, side) =>
      drawSlots(items, { ...sampling, seed: `${sampling.seed}:${n}:${side}` }),
    )
    if (n === sample)
      return (own ?? []).flatMap((item, slot): ItemPair[] => {
        const match = other?.[slot] ?? null
        return item === null || match === null ? [] : [{ id: item.id, base: item, candidate: match }]
      })
    leftBase = leftBase.filter(item => own?.includes(item) !== true)
    leftCandidate = leftCandidate.filter(item => other?.includes(item) !== true)
  }
}

function drawPairs(matched: readonly ItemPair[], { sampleSize, stratification, seed }: Sampling) {
  const left = sortByDraw(matched, ({ id }) => id, `sample:${seed}`)
  const pairs: ItemPair[] = []
  const short: ItemSample['short'] = []
  const strata = stratification ?? []
  for (const { bucket, count } of strata) {
    // Only the base names the bucket. A candidate that could name it could choose its comparison.
    const found = left.filter(pair => pair.base.bucket === bucket).slice(0, count)
    for (const pair of found) pairs.push(...left.splice(left.indexOf(pair), 1))
    if (found.length < count) short.push({ bucket, wanted: count, found: found.length })
  }
  const stratified = strata.reduce((sum, { count }) => sum + count, 0)
  pairs.push(...left.slice(0, Math.max(0, sampleSize - stratified)))
  return { pairs, short }
}

/** The order depends on the seed text alone. */
function sortByDraw<T>(all: readonly T[], idOf: (one: T) => string, seed: string): T[] {
  const drawn = new Map(all.map(one => [one, hashSha256(`${seed}:${idOf(one)}`)]))
  return all.toSorted((a, b) => ((drawn.get(a) ?? '') < (drawn.get(b) ?? '') ? -1 : 1))
}
