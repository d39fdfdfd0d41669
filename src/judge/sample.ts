import { hashSha256 } from '../model/canonical.ts'
import type { Item } from '../measure/output/items.ts'

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
export function sortByDraw<T>(all: readonly T[], idOf: (one: T) => string, chance: string): T[] {
  const drawn = new Map(all.map(one => [one, hashSha256(`${chance}:${idOf(one)}`)]))
  return all.toSorted((a, b) => ((drawn.get(a) ?? '') < (drawn.get(b) ?? '') ? -1 : 1))
}
