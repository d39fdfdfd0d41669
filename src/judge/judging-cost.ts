import type { ModelUsage } from '../ports.ts'
import { buildPrompt } from './prompt.ts'
import type { Rubric } from './rubric.ts'

export interface CostCase {
  rubric: Rubric
  sampleSize: number
  batchSize: number
  judges: number
  /** Of the content of one item, in the middle. */
  itemCharacters: number
  /** US dollars for a million tokens; null: not known. */
  price: { input: number; output: number } | null
}

export type JudgingCost = Pick<ModelUsage, 'requests' | 'tokens' | 'usd'>

/** What a token stands for in the middle, in text of people and of programs. */
const CHARACTERS = 4
const TOKENS_OF_A_SCORE = 20
const MILLION = 1_000_000

/** What judging one sample of both sides costs in the middle, before anything was asked. */
export function estimateJudgingCost(about: CostCase): JudgingCost {
  const { rubric, sampleSize, batchSize, judges, price } = about
  const requests = judges * 2 * Math.ceil(sampleSize / batchSize)
  const entries = judges * 2 * sampleSize
  const { around, each } = countPromptCharacters(about)
  const input = Math.ceil((requests * around + entries * each) / CHARACTERS)
  const output = entries * TOKENS_OF_A_SCORE * (rubric.others.length + 2)
  const usd = price === null ? null : (input * price.input + output * price.output) / MILLION
  return { requests, tokens: input + output, usd }
}

/** Read off the prompt itself: what comes with every request, and what with every item. */
function countPromptCharacters({ rubric, itemCharacters }: CostCase): { around: number; each: number } {
  const mark = 'm'.repeat(32)
  const entry = { key: 'k'.repeat(8), item: '', side: 'base', content: '' } as const
  const { system, user } = buildPrompt(rubric, { judge: 0, mark, entries: [entry] })
  return { around: system.length, each: user.length + itemCharacters }
}
