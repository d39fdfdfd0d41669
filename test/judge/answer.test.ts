import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseScores } from '../../src/judge/ask-judges.ts'
import { batches, RUBRIC } from './some-items.ts'

const [batch = { judge: 0, mark: '', entries: [] }] = batches(3)
const [a = '', b = '', c = ''] = batch.entries.map(({ key }) => key)
const answer = (...scores: unknown[]) => JSON.stringify({ scores })
const read = (text: string) => Object.fromEntries(parseScores(text, batch, RUBRIC))

describe('an answer', () => {
  const whole = answer(
    { item: a, quality: 4, length: 120 },
    { item: b, quality: 2.5, length: 7, why: 'short' },
  )

  it('is read by key, with the requested fields', () => {
    expect(read(whole)).toEqual({ [a]: { quality: 4, length: 120 }, [b]: { quality: 2.5, length: 7 } })
  })

  it.each([`\`\`\`json\n${whole}\n\`\`\``, `\n \`\`\`\n${whole}\n\`\`\`\n`, ` ${whole}\n`])(
    'may stand in a block of code: case %#',
    text => {
      expect(Object.keys(read(text))).toEqual([a, b])
    },
  )

  it.each([
    '',
    'I would give all of them a 5.',
    `Here it is: ${answer({ item: a, quality: 5 })}`,
    answer({ item: a, quality: 5 }).slice(0, -3),
    '[]',
    'null',
    '{"scores": {}}',
    `{"scores": [], "scores": [{"item": "${a}", "quality": 5}]}`,
    `{"scores": [{"item": "${a}", "quality": 1, "quality": 5}]}`,
    `\`\`\`json\n${answer({ item: a, quality: 5 })}\n\`\`\`\nand more`,
  ])('that is not one valid object has no score: case %#', text => {
    expect(read(text)).toEqual({})
  })

  it.each<[string, unknown]>([
    ['a word', '5'],
    ['missing', undefined],
    ['null', null],
    ['true', true],
    ['below the scale', 0.99],
    ['above the scale', 5.01],
    ['a list', [5]],
  ])('has no score if it is %s', (_, quality) => {
    expect(read(answer({ item: a, quality }, { item: b, quality: 3 }))).toEqual({
      [b]: { quality: 3, length: null },
    })
  })

  it('has no score if the number is infinite', () => {
    expect(read(`{"scores": [{"item": "${a}", "quality": 1e999}]}`)).toEqual({})
    const others = `{"scores": [{"item": "${a}", "quality": 3, "length": 1e999}]}`
    expect(read(others)).toEqual({ [a]: { quality: 3, length: null } })
  })

  it('has no score for an item that it scores twice or that was not shown', () => {
    const text = answer(
      { item: a, quality: 5 },
      { item: a, quality: 5 },
      { item: a, quality: 5 },
      { item: 'q0', quality: 5 },
      { quality: 5 },
      'x',
      { item: c, quality: 1 },
    )
    expect(read(text)).toEqual({ [c]: { quality: 1, length: null } })
  })

  it('yields only scores of shown items on the scale, whatever the text', () => {
    const element = fc.record({ item: fc.constantFrom(a, b, 'x'), quality: fc.anything() })
    fc.assert(
      fc.property(fc.array(fc.oneof(element, fc.anything())), all => {
        let text: string
        try {
          text = JSON.stringify({ scores: all })
        } catch {
          // Not everything that can be made up is JSON.
          return
        }
        for (const [key, { quality }] of Object.entries(read(text))) {
          expect([a, b]).toContain(key)
          expect(quality).toBeGreaterThanOrEqual(1)
          expect(quality).toBeLessThanOrEqual(5)
        }
      }),
    )
  })
})
