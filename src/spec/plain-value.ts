import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { describeFoundValue, type SpecPath } from './problem.ts'

export type RefusedNode = { offset?: number; path: SpecPath; found: string; expected: string; fix: string }

/** Far above any spec, far below what a file of aliases can expand to. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 64

/** Keys that reach an object's prototype when somebody later copies them carelessly. */
const DANGEROUS_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

/** YAML nodes to plain values, within bounds: aliases cannot explode or loop, keys cannot reach a prototype. */
class PlainValue {
  readonly refused: RefusedNode[] = []
  private values = 0
  private readonly document: Document
  constructor(document: Document) {
    this.document = document
  }

  of(node: unknown, path: SpecPath): unknown {
    this.values += 1
    if (this.values > MAX_VALUES || path.length > MAX_DEPTH) return this.tooMuch(node, path)
    if (isAlias(node)) return this.alias(node, path)
    if (isScalar(node)) return this.scalar(node, path)
    if (isSeq(node)) return node.items.map((item, index) => this.of(item, [...path, index]))
    if (isMap(node)) return this.map(node, path)
    return null
  }

  /** Tags can make bytes and dates of a text; a spec has neither. */
  private scalar(node: Scalar, path: SpecPath): unknown {
    const { value } = node
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value
    return this.refuse(
      node,
      path,
      `a value tagged ${node.tag ?? 'specially'}`,
      'plain text or a number',
      'remove the tag',
    )
  }

  private alias(node: Alias, path: SpecPath): unknown {
    const target = node.resolve(this.document)
    if (target !== undefined) return this.of(target, path)
    return this.refuse(
      node,
      path,
      `*${node.source}, which nothing defines`,
      'an anchor above it',
      'write the value',
    )
  }

  private map(node: YAMLMap, path: SpecPath): Record<string, unknown> {
    const plain: Record<string, unknown> = {}
    for (const pair of node.items) {
      const key = this.key(pair, path)
      if (key === undefined) continue
      if (Object.hasOwn(plain, key))
        this.refuse(pair.key, path, `the key ${key} again`, 'each key once', 'remove one')
      plain[key] = this.of(pair.value, [...path, key])
      if (this.values > MAX_VALUES) break
    }
    return plain
  }

  private key(pair: Pair, path: SpecPath): string | undefined {
    const key = isScalar(pair.key) ? pair.key.value : undefined
    if (typeof key === 'number' || typeof key === 'boolean') return String(key)
    if (typeof key === 'string' && !DANGEROUS_KEYS.has(key)) return key
    const found = typeof key === 'string' ? `the key ${describeFoundValue(key)}` : 'a key that is not text'
    this.refuse(pair.key, path, found, 'text as key', 'rename the key')
    return undefined
  }

  private tooMuch(node: unknown, path: SpecPath): undefined {
    const told = this.refused.some(({ expected }) => expected === BOUNDS)
    if (!told)
      this.refuse(node, path.slice(0, 4), 'more than a spec can hold', BOUNDS, 'write it without aliases')
    return undefined
  }

  private refuse(node: unknown, path: SpecPath, found: string, expected: string, fix: string): undefined {
    const offset = isNode(node) ? node.range?.[0] : undefined
    this.refused.push({ ...(offset === undefined ? {} : { offset }), path, found, expected, fix })
    return undefined
  }
}

const BOUNDS = `at most ${MAX_VALUES} values, nested ${MAX_DEPTH} deep`

export function toPlainValue(document: Document): { value: unknown; refused: RefusedNode[] } {
  const reading = new PlainValue(document)
  return { value: reading.of(document.contents, []), refused: reading.refused }
}
