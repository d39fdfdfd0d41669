import { describe, expect, test } from 'vitest'
import {
  flattenPlaces,
  formatJson,
  formatValue,
  isTree,
  splitFields,
} from '../../src/dependencies/manifest-format.ts'

function restOf(tree: Record<string, unknown>, patterns: readonly string[], depth?: number) {
  return Object.fromEntries(splitFields(tree, patterns, depth).rest)
}

describe('splitting a manifest', () => {
  test('returns the fields at the named places with their paths', () => {
    const tree = { a: { x: 1, y: 2 }, b: { one: { deps: 3 }, two: { deps: 4 } }, c: 5 }
    const { fields } = splitFields(tree, ['a.x', 'b.*.deps', 'c', 'd'])
    expect(fields).toEqual([
      { path: ['a', 'x'], value: 1 },
      { path: ['b', 'one', 'deps'], value: 3 },
      { path: ['b', 'two', 'deps'], value: 4 },
      { path: ['c'], value: 5 },
    ])
  })

  test('returns all the rest by its first keys', () => {
    const tree = { a: { x: 1, y: { z: 2 } }, b: [1, { c: 2 }], d: null }
    expect(restOf(tree, ['a.x'])).toEqual({ a: '{"y":{"z":2}}', b: '[1,{"c":2}]', d: 'null' })
    expect(restOf(tree, ['a.x'], 2)).toEqual({ 'a.y': '{"z":2}', b: '[1,{"c":2}]', d: 'null' })
  })

  test('drops a table that held only dependencies, and keeps what was empty before', () => {
    expect(
      restOf({ tool: { poetry: { group: { dev: { dependencies: {} } } } } }, [
        'tool.poetry.group.*.dependencies',
      ]),
    ).toEqual({})
    expect(restOf({ tool: { pytest: {} } }, ['tool.poetry.dependencies'], 1)).toEqual({
      tool: '{"pytest":{}}',
    })
  })

  test('takes a field only at its exact place', () => {
    expect(restOf({ x: { dependencies: 1 }, dependencies: 2 }, ['dependencies'])).toEqual({
      x: '{"dependencies":1}',
    })
  })

  test('keeps the order below the named places', () => {
    const [one, other] = [{ a: { b: 1, c: 2 } }, { a: { c: 2, b: 1 } }]
    expect(restOf(one, [])).not.toEqual(restOf(other, []))
    expect(restOf(one, [], 2)).toEqual(restOf(other, [], 2))
  })

  test('of an empty manifest is empty', () => {
    expect(flattenPlaces(undefined, 1)).toEqual(new Map())
    expect(splitFields({}, ['a']).rest.size).toBe(0)
  })
})

describe('values as text', () => {
  test('differ if the TOML values differ', () => {
    const values = [Infinity, -Infinity, NaN, null, 1n, 1, '1', new Date(0), [], {}]
    expect(new Set(values.map(formatJson)).size).toBe(values.length - 1)
    expect(formatJson(1n)).toBe('"1"')
  })

  test('are the text itself for strings', () => {
    expect(formatValue('^1.0')).toBe('^1.0')
    expect(formatValue(['a'])).toBe('["a"]')
  })

  test('a date is not a table', () => {
    expect([isTree({}), isTree(Object.create(null)), isTree(new Date()), isTree([]), isTree(null)]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ])
  })
})
