import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UserError } from '../../src/errors.ts'
import { normalizeHypothesis, readIdeaList } from '../../src/ideas/idea-block.ts'

function ideasIn(content: string, file: string) {
  return readIdeaList(content, file).map(({ hypothesis, category, priority }) => [
    hypothesis,
    category,
    priority,
  ])
}

function problem(content: string, file: string): string {
  try {
    readIdeaList(content, file)
  } catch (error) {
    if (error instanceof UserError) return `${error.message} | ${error.fix}`
    throw error
  }
  return 'none'
}

describe('a list of ideas', () => {
  it('is the items of Markdown lists with their categories, except ticked ones', () => {
    const text = [
      '# Ideas',
      'Some words before.',
      '- [caching] keep the parsed header',
      '* drop the copy',
      '  + [ ] unroll the loop',
      '- [x] done long ago',
      '-not an item',
    ].join('\n')
    expect(ideasIn(text, 'ideas.md')).toEqual([
      ['keep the parsed header', 'caching', 'medium'],
      ['drop the copy', 'general', 'medium'],
      ['unroll the loop', 'general', 'medium'],
    ])
  })

  it('may have the line ends of Windows', () => {
    expect(ideasIn('- [caching] keep it\r\n- [x] done\r\n- drop it\r\n', 'ideas.md')).toEqual([
      ['keep it', 'caching', 'medium'],
      ['drop it', 'general', 'medium'],
    ])
  })

  it('is a list of texts or of ideas in YAML or JSON', () => {
    const yaml = '- keep it\n- { hypothesis: drop it, category: allocation, priority: high }\n'
    const expected = [
      ['keep it', 'general', 'medium'],
      ['drop it', 'allocation', 'high'],
    ]
    expect(ideasIn(yaml, 'ideas.yaml')).toEqual(expected)
    const json = '["keep it", {"hypothesis": "drop it", "category": "allocation", "priority": "high"}]'
    expect(ideasIn(json, 'ideas.json')).toEqual(expected)
  })

  it("is ce-optimize's backlog as its guide shows it", () => {
    const backlog = `hypothesis_backlog:
  - description: "Remove template boilerplate before embedding"
    category: "signal-extraction"
    priority: high
    dep_status: approved
    required_deps: []
  - description: "Try HDBSCAN clustering algorithm"
    category: "algorithm"
    priority: medium
    dep_status: needs_approval
    required_deps: ["scikit-learn"]
`
    expect(ideasIn(backlog, 'backlog.yaml')).toEqual([
      ['Remove template boilerplate before embedding', 'signal-extraction', 'high'],
      ['Try HDBSCAN clustering algorithm', 'algorithm', 'medium'],
    ])
    expect(readIdeaList(backlog, 'backlog.yaml')[1]?.required_deps).toEqual(['scikit-learn'])
  })

  it('reports what is wrong with it', () => {
    expect(problem('nothing here', 'a.md')).toBe(
      'a.md: it contains no idea | write one idea a line: - [category] text',
    )
    expect(problem('- a\n- 7\n', 'a.yml')).toContain('a.yml: entry 2 is not an idea')
    expect(problem('{ hypothesis: x }', 'a.yml')).toContain('a.yml: the file is not an idea')
    expect(problem('- "open', 'a.yml')).toContain('a.yml cannot be read')
    expect(problem('- x\n'.repeat(501), 'a.md')).toContain('more than 500 ideas')
    expect(problem('- x\n'.repeat(501), 'a.yml')).toContain('more than 500 ideas')
  })

  it('never throws an unexpected error and never yields an empty idea', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('a.md', 'a.yaml'), (text, file) => {
        try {
          for (const { hypothesis } of readIdeaList(text, file))
            expect(hypothesis.length).toBeLessThanOrEqual(300)
        } catch (error) {
          expect(error).toBeInstanceOf(UserError)
        }
      }),
    )
  })
})

describe('equal hypotheses', () => {
  it('are the same idea in any case and punctuation', () => {
    expect(normalizeHypothesis('  Cache the  "parsed" header! ')).toBe(
      normalizeHypothesis('cache the parsed header'),
    )
    expect(normalizeHypothesis('cache the header')).not.toBe(normalizeHypothesis('cache the body'))
    fc.assert(
      fc.property(
        fc.string(),
        text => normalizeHypothesis(normalizeHypothesis(text)) === normalizeHypothesis(text),
      ),
    )
  })
})
