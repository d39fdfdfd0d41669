import {
  type Batch,
  buildBatches,
  drawSample,
  type ItemPair,
  type JudgingPlan,
} from '../../src/judge/batch.ts'
import type { Item } from '../../src/measure/output/harness-output.ts'
import type { Rubric } from '../../src/judge/rubric.ts'

export const RUBRIC: Rubric = {
  text: 'Score 1 to 5 how well it reads.',
  primary: 'quality',
  others: ['length'],
  scale: [1, 5],
}

export function judging(changes: Partial<JudgingPlan> = {}): JudgingPlan {
  return { coins: 'c'.repeat(64), batchSize: 5, judges: 1, ...changes }
}

export function items(count: number, content: (id: string) => string = id => `text of ${id}`): Item[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `q${index}`
    return { id, bucket: index % 3 === 0 ? 'long' : 'short', content: content(id) }
  })
}

/** Every item with other contents on each side. */
export function pairsOf(count: number): ItemPair[] {
  const base = items(count, id => `old ${id}`)
  const candidate = items(count, id => `new ${id}`)
  return drawSample(base, candidate, { sampleSize: count, stratification: null, seed: 1 }).pairs
}

export function batches(count: number, changes: Partial<JudgingPlan> = {}): Batch[] {
  return buildBatches(pairsOf(count), judging(changes))
}
