import { describe, expect, test } from 'vitest'
import {
  parseJsonTree,
  parseTomlTree,
  parseXml,
  parseYamlTree,
  readChildTexts,
  splitElements,
  stripTrailingCommas,
} from '../../src/dependencies/text-formats.ts'

describe('JSON', () => {
  test.each([
    '{}',
    '{ "a": { "b": [ { "c": 1 }, { "c": 2 } ] }, "b": "c" }',
    '{ "a": "\\"b\\": 1", "b\\\\": ":", "": null }',
    '{ "a": ["b", "c"], "d": "e : f" }',
  ])('%s is read', text => {
    expect(parseJsonTree(text)).toEqual(JSON.parse(text))
  })

  test.each(['{ "a": 1, "a": 1 }', '{ "b": { "a": 1, "\\u0061": 2 } }', '{ "b": [{ "": 1, "": 2 }] }'])(
    '%s has a duplicate member',
    text => expect(() => parseJsonTree(text)).toThrow('the same member twice'),
  )

  test.each(['[]', '"a"', 'null', '1'])('%s is not an object', text => {
    expect(() => parseJsonTree(text)).toThrow('holds no JSON object')
  })

  test.each([
    ['{ "a": [1, 2,], }', '{ "a": [1, 2] }'],
    ['{ "a": "b,]", }', '{ "a": "b,]" }'],
    ['{ "a\\",}": 1,\n}', '{ "a\\",}": 1\n}'],
  ])('%j loses its trailing commas', (text, without) => {
    expect(stripTrailingCommas(text)).toBe(without)
  })
})

describe('YAML', () => {
  test('reads every scalar as text', () => {
    const text = 'a: 1.10\nb: yes\nc: [0o7, null, ~]\nd: "1"\n? e\n: 2001-01-01\n'
    expect(parseYamlTree(text)).toEqual({
      a: '1.10',
      b: 'yes',
      c: ['0o7', 'null', '~'],
      d: '1',
      e: '2001-01-01',
    })
  })

  test('of an empty manifest is empty', () => {
    expect(parseYamlTree('')).toEqual({})
    expect(parseYamlTree('# a comment\n')).toEqual({})
  })

  test.each([
    ['a: 1\na: 2\n', 'same key twice'],
    ['a: {b: 1, "b": 2}\n', 'same key twice'],
    ['a: &x 1\n', 'anchors or aliases'],
    ['a: {<<: {b: 1}}\n', 'merge key'],
    ['"<<": {b: 1}\n', 'merge key'],
    ['a: !!str 1\n', 'tags'],
    ['a: !evil 1\n', 'Unresolved tag'],
    ['%YAML 1.1\n---\na: 1\n', 'directives'],
    ['a: 1\n---\nb: 2\n', 'more than one document'],
    ['- a\n', 'holds no mapping'],
    ['__proto__: {a: 1}\n', '__proto__'],
  ])('%j is refused', (text, why) => {
    expect(() => parseYamlTree(text)).toThrow(why)
  })
})

describe('TOML', () => {
  test.each(['a = 1\na = 2\n', '[a]\n[a]\n', 'a.b = 1\na = { c = 2 }\n', 'a = 1\n[a]\n', 'a = \n'])(
    '%j is refused',
    text => {
      expect(() => parseTomlTree(text)).toThrow()
    },
  )

  test('refuses __proto__', () => {
    expect(() => parseTomlTree('__proto__ = { a = 1 }\n')).toThrow('__proto__')
    expect(() => parseTomlTree('[a.__proto__]\nb = 1\n')).toThrow('__proto__')
  })
})

describe('XML', () => {
  const text = '<a x="1"><!-- c --><b>1<![CDATA[ & ]]>2</b><b y="2"/><c><d>3</d></c></a>'

  test('has elements with attributes and texts', () => {
    const { name, attributes, children } = parseXml(text)
    expect([name, attributes]).toEqual(['a', { x: '1' }])
    expect(children.map(child => [child.name, child.attributes, child.text])).toEqual([
      ['b', {}, '1 & 2'],
      ['b', { y: '2' }, ''],
      ['c', {}, ''],
    ])
  })

  test('is split by place', () => {
    const { taken, rest } = splitElements(parseXml(text), ['a/c/d', 'a/e'])
    expect(taken.map(({ name, text: of }) => `${name} ${of}`)).toEqual(['d 3'])
    expect([...rest.keys()]).toEqual(['a', 'b'])
  })

  test('allows each child once', () => {
    expect(readChildTexts(parseXml('<a><b>1</b><c>2</c></a>'))).toEqual(
      new Map([
        ['b', '1'],
        ['c', '2'],
      ]),
    )
    expect(() => readChildTexts(parseXml('<a><b>1</b><b>2</b></a>'))).toThrow('two b in one a')
    expect(() => readChildTexts(parseXml('<a><b x="1">1</b></a>'))).toThrow('attributes on b in a')
  })

  test.each([
    ['<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', 'document type'],
    ['<?xml version="1.0" encoding="UTF-16"?><a/>', 'not in UTF-8'],
    ['<?evil?><a/>', 'processing instructions'],
    ['<a/><b/>', 'not one element'],
    ['<a><b></a>', 'is no XML'],
    ['<a x="1" x="2"/>', 'is no XML'],
    ['a', 'is no XML'],
  ])('%j is refused', (odd, why) => {
    expect(() => parseXml(odd)).toThrow(why)
  })
})
