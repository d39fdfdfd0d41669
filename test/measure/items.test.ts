import { describe, expect, it } from 'vitest'
import { HarnessError } from '../../src/errors.ts'
import { item, MOST_CONTENT, parseItems } from '../../src/measure/output/harness-output.ts'

describe('items of a harness', () => {
  it('are text, also if they were printed as JSON values', () => {
    const printed = [
      { id: 'a', bucket: 'long', content: 'words' },
      { id: 'b', content: { b: 1, a: [true, null] }, seconds: 3 },
      { id: 'c', bucket: null, content: '' },
    ]
    expect(parseItems(printed)).toEqual([
      { id: 'a', bucket: 'long', content: 'words' },
      { id: 'b', bucket: null, content: '{"a":[true,null],"b":1}' },
      { id: 'c', bucket: null, content: '' },
    ])
  })

  it.each<[unknown, string]>([
    [{ a: 1 }, '"items": has to be an array'],
    [[{ content: 'x' }], '"items.0.id"'],
    [[{ id: '', content: 'x' }], '"items.0.id"'],
    [[{ id: 'a' }], '"items.0.content": nothing to score'],
    [[{ id: '__proto__', content: 'x' }], '"items.0.id": no item can be called that'],
    [[{ id: 'a', content: 'x', bucket: 3 }], '"items.0.bucket"'],
    [
      [
        { id: 'a', content: 'x' },
        { id: 'a', content: 'y' },
      ],
      'has the id "a" twice',
    ],
    [[{ id: 'a', content: 'x'.repeat(MOST_CONTENT + 1) }], `more than ${MOST_CONTENT}`],
    [Array.from({ length: 10_001 }, (_, id) => ({ id: String(id), content: '' })), 'more than 10000 items'],
  ])('are refused where they cannot be judged as they are meant: case %#', (printed, why) => {
    expect(() => parseItems(printed)).toThrow(HarnessError)
    expect(() => parseItems(printed)).toThrow(why)
  })

  it('have no lone surrogates, which endpoints refuse', () => {
    const [whole, half] = parseItems([
      { id: 'a', content: 'π 🦉\n\u0000' },
      { id: 'b', content: 'a\ud800b' },
    ])
    expect([whole?.content, half?.content]).toEqual(['π 🦉\n\u0000', 'a\ufffdb'])
  })

  it('from another job have the same limits', () => {
    const brought = (changes: object) =>
      item.safeParse({ id: 'a', bucket: null, content: '', ...changes }).success
    expect(brought({})).toBe(true)
    for (const wrong of [{ id: '__proto__' }, { id: '' }, { content: 'x'.repeat(MOST_CONTENT + 1) }])
      expect(brought(wrong)).toBe(false)
  })

  it('keep their printed names', () => {
    expect(() => parseItems(3, 'singletons')).toThrow('"singletons": has to be an array')
  })
})
