import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { joinMembers, listCanonicalMembers, toCanonicalJson } from '../../src/model/canonical-json.ts'

const object = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 }))

describe('canonical JSON', () => {
  it('has one spelling for a value in any order of its members', () => {
    fc.assert(
      fc.property(object, fc.infiniteStream(fc.nat()), (value, chances) => {
        const shuffled = Object.entries(value)
          .map(entry => ({ entry, chance: chances.next().value }))
          .sort((a, b) => a.chance - b.chance)
          .map(({ entry }) => entry)
        expect(toCanonicalJson(Object.fromEntries(shuffled))).toBe(toCanonicalJson(value))
      }),
    )
  })

  it('keeps the value, and orders names by their UTF-16 code units', () => {
    fc.assert(
      fc.property(object, value => {
        const text = toCanonicalJson(value)
        expect(toCanonicalJson(JSON.parse(text))).toBe(text)
        const names = listCanonicalMembers(value).map(([name]) => name)
        expect(names).toEqual(Object.keys(value).toSorted((a, b) => (a < b ? -1 : 1)))
      }),
    )
    expect(toCanonicalJson({ b: 1, '10': 2, '9': 3, é: 4, '\u{1F600}': 5, '\uFB33': 6, a: undefined })).toBe(
      '{"10":2,"9":3,"b":1,"é":4,"\u{1F600}":5,"\uFB33":6}',
    )
  })

  it('of an object can be joined from the texts of its members', () => {
    fc.assert(
      fc.property(object, fc.func(fc.boolean()), (value, wanted) => {
        const members = listCanonicalMembers(value)
        expect(joinMembers(members.map(([, member]) => member))).toBe(toCanonicalJson(value))
        const part = members.filter(([name]) => wanted(name))
        const rest = Object.fromEntries(part.map(([name]) => [name, value[name]]))
        expect(joinMembers(part.map(([, member]) => member))).toBe(toCanonicalJson(rest))
      }),
    )
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 1n, () => 1])(
    'rejects a value that JSON cannot represent: %s',
    value => {
      expect(() => toCanonicalJson({ value })).toThrow('not representable in JSON')
    },
  )
})
