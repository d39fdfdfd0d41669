import { describe, expect, it } from 'vitest'
import { HarnessError } from '../../src/errors.ts'
import { itemsIn, MOST_CONTENT } from '../../src/measure/output/items.ts'

describe('items of a harness', () => {
  it('are text, whatever JSON they were', () => {
    const printed = [
      { id: 'a', bucket: 'long', content: 'words' },
      { id: 'b', content: { b: 1, a: [true, null] }, seconds: 3 },
      { id: 'c', bucket: null, content: '' },
    ]
    expect(itemsIn(printed)).toEqual([
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
    expect(() => itemsIn(printed)).toThrow(HarnessError)
    expect(() => itemsIn(printed)).toThrow(why)
  })

  it('are called as they were printed', () => {
    expect(() => itemsIn(3, 'singletons')).toThrow('"singletons": has to be an array')
  })
})
