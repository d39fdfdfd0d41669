import { describe, expect, it } from 'vitest'
import { parseCall } from '../../src/judge/metered-call.ts'

const MODELS = new Map([['m', null]])

function mostOf(path: string, body: object): number {
  const call = parseCall(`/v1${path}`, JSON.stringify({ model: 'm', ...body }), MODELS)
  if ('status' in call) throw new Error(call.message)
  return call.most.output
}

describe('the most that a call may cost', () => {
  it.each<[string, number, object]>([
    ['one answer', 10, {}],
    ['several answers', 30, { n: 3 }],
    ['answers of which the best is returned', 50, { best_of: 5 }],
    ['several of the best', 50, { n: 2, best_of: 5 }],
    ['fewer made than returned', 30, { n: 3, best_of: 1 }],
    ['several prompts', 60, { prompt: ['a', 'b'], n: 3 }],
    ['several prompts as tokens', 20, { prompt: [[1, 2], [3]] }],
    ['one prompt as tokens', 10, { prompt: [1, 2, 3] }],
    ['no prompt', 10, { prompt: [] }],
    [
      'several limits, of which an endpoint may read any',
      40,
      { max_completion_tokens: 5, max_output_tokens: 40 },
    ],
  ])('covers %s', (_, most, body) => {
    expect(mostOf('/completions', { max_tokens: 10, ...body })).toBe(most)
  })

  it('is the longest answer of any model without a limit', () => {
    expect(mostOf('/chat/completions', { n: 2, best_of: null })).toBe(2 * 131_072)
    expect(mostOf('/embeddings', { n: 2 })).toBe(0)
  })
})
