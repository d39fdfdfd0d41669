import type { Campaign } from '../model/campaign.ts'
import type { Spec } from '../spec/schema.ts'
import { getRoundSize } from './rounds.ts'

/** Where to look for an idea, in words that fit any metric. */
const SEARCH_ANGLES = [
  'what runs most often: do less of it each time',
  'how data is laid out or represented: another form of it',
  'what is computed more than once: compute it once',
  'the algorithm: one that needs fewer steps',
  'the commonest input: a short path for it',
  'what is done and not needed: leave it out',
  'work in small pieces: batch it, or order it differently',
  'what is copied or converted on the way: avoid that',
  'fixed numbers, sizes and thresholds: better ones',
  'the boundaries between modules: what is passed or called too often',
  'rare cases that the common path pays for: move them out of it',
  'what the language, its library or the runtime does better itself',
] as const

/**
 * Proposers that are asked at the same time without an idea of the backlog each look somewhere else, and elsewhere in
 * every round. null where one is asked at a time: it looks where it likes.
 */
export function selectNextAngle(
  { next_number }: Pick<Campaign, 'next_number'>,
  spec: Spec,
  inUse: ReadonlySet<string>,
): string | null {
  if (getRoundSize(spec) <= 1) return null
  const start = next_number % SEARCH_ANGLES.length
  const all = [...SEARCH_ANGLES.slice(start), ...SEARCH_ANGLES.slice(0, start)]
  const pairs = all.flatMap(one => all.filter(other => other !== one).map(other => `${one}; and ${other}`))
  return [...all, ...pairs].find(angle => !inUse.has(angle)) ?? null
}
