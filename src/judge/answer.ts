import { z } from 'zod'
import { findDuplicateKey } from '../measure/output/duplicate-key.ts'
import type { Batch } from './batch.ts'
import type { Rubric } from './rubric.ts'

/** By field; null for one that is not logged for want of a number. */
export type ItemScores = Record<string, number | null>

const answer = z.object({ scores: z.array(z.unknown()) })
const element = z.looseObject({ item: z.string() })

/**
 * What can be read of an answer, by key. Invariant 5: no JSON, a score that is missing, no number, not finite, outside
 * the scale or given twice is no score; nothing is guessed, and words are no numbers.
 */
export function parseScores(text: string, batch: Batch, rubric: Rubric): Map<string, ItemScores> {
  const read = new Map<string, ItemScores>()
  const seen = new Set<string>()
  const asked = new Set(batch.entries.map(({ key }) => key))
  for (const each of parseScoreElements(text)) {
    const parsed = element.safeParse(each)
    if (!parsed.success || !asked.has(parsed.data.item)) continue
    const { item } = parsed.data
    const scores = readItemScores(parsed.data, rubric)
    if (seen.has(item) || scores === null) read.delete(item)
    else read.set(item, scores)
    seen.add(item)
  }
  return read
}

/** One object, bare or as one block of code, in which nothing is said twice. */
function parseScoreElements(text: string): unknown[] {
  const [, block = text] = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text) ?? []
  let value: unknown
  try {
    value = JSON.parse(block)
  } catch {
    // Words around it, or half of it: whoever guessed what was meant would guess a score.
    return []
  }
  if (findDuplicateKey(block) !== null) return []
  return answer.safeParse(value).data?.scores ?? []
}

function readItemScores(given: Readonly<Record<string, unknown>>, rubric: Rubric): ItemScores | null {
  const { primary, others, scale } = rubric
  const [low, high] = scale
  const score = readScoreNumber(given, primary)
  if (score === null || score < low || score > high) return null
  return Object.fromEntries([
    [primary, score],
    ...others.map(field => [field, readScoreNumber(given, field)]),
  ])
}

function readScoreNumber(given: Readonly<Record<string, unknown>>, field: string): number | null {
  const value = Object.hasOwn(given, field) ? given[field] : null
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}
