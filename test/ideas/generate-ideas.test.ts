import { describe, expect, it } from 'vitest'
import { parseGeneratedIdeas, renderEarlierResults } from '../../src/ideas/generate-ideas.ts'
import { aSpec } from '../decide/a-spec.ts'

const EMPTY = { backlog: [], experiments: {} }
const IDEAS = [
  { hypothesis: 'cache the header', category: 'caching', priority: 'High', required_deps: 'lru-cache' },
  { hypothesis: 'use a table', category: 'lookup', priority: 'soon', required_deps: [] },
]
const JSON_TEXT = JSON.stringify({ ideas: IDEAS })

describe('an answer with ideas', () => {
  it.each([
    ['the object alone', JSON_TEXT],
    ['prose and a code block around it', `Here you are:\n\`\`\`json\n${JSON_TEXT}\n\`\`\`\nGood luck!`],
    ['a bare list', JSON.stringify(IDEAS)],
    ['a list that was cut off', `${JSON_TEXT.slice(0, -2)}, {"hypothesis": "use fewer al`],
  ])('is read as %s', (_, text) => {
    expect(parseGeneratedIdeas(text, EMPTY)?.ideas).toEqual([
      {
        hypothesis: 'cache the header',
        category: 'caching',
        priority: 'high',
        required_deps: ['lru-cache'],
        family: null,
      },
      { hypothesis: 'use a table', category: 'lookup', priority: 'medium', required_deps: [], family: null },
    ])
  })

  it.each(['', 'I cannot help with that.', '{"ideas": []}', '{"answer": 42}', '[1, 2'])(
    'is none without a list: %s',
    text => expect(parseGeneratedIdeas(text, EMPTY)?.ideas ?? []).toEqual([]),
  )

  it('leaves out what is no idea, and what is known', () => {
    const text = JSON.stringify(['use a Table!', 'use  a table', { category: 'x' }, 7, 'cache the header'])
    const known = { hypothesis: 'Cache the header.' } as never
    expect(parseGeneratedIdeas(text, { ...EMPTY, backlog: [known] })).toMatchObject({
      ideas: [{ hypothesis: 'use a Table!' }],
      known: ['use a table', 'cache the header'],
      invalid: 2,
    })
  })

  it('is cut at thirty ideas', () => {
    const many = Array.from({ length: 90 }, (_, at) => `idea number ${at}`)
    expect(parseGeneratedIdeas(JSON.stringify(many), EMPTY)?.ideas).toHaveLength(30)
  })
})

describe('earlier results', () => {
  it('come with what was learned, those about the same first', () => {
    const told = renderEarlierResults(
      [
        { from: 'campaign size', idea: 'shorten names', result: 'kept' },
        {
          from: 'campaign parser',
          idea: 'parse lazily',
          result: 'dropped',
          learned: 'parsing is not the cost',
        },
      ],
      { ...aSpec(), description: 'make the parser faster, parsing large files' },
    )
    expect(told.split('\n').slice(1, 3)).toEqual([
      '- `campaign parser`, dropped: `parse lazily` Learned: `parsing is not the cost`',
      '- `campaign size`, kept: `shorten names`',
    ])
    expect(renderEarlierResults([], aSpec())).toBe('')
  })
})
