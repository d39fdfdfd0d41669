import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import {
  describeFoundValue,
  formatPath,
  type Problem,
  SpecErrors,
  type SpecFinding,
  type SpecPath,
} from './errors.ts'

/** A YAML file as a plain value that can locate a finding in the file. */
export type SourceDocument = {
  value: unknown
  problem(finding: SpecFinding): Problem
}

type ParsedYaml = { document: Document; lines: LineCounter; text: string; file: string }

export function readDocument(text: string, file: string): SourceDocument {
  const yaml = parseYaml(text, file)
  const { document } = yaml
  const broken = findSyntaxProblems(document, text)
  if (broken.length > 0) {
    throw new SpecErrors(
      broken.map(({ offset, ...rest }) => ({ file, ...locateOffset(yaml, offset), path: '', ...rest })),
    )
  }
  const { value, refused } = toPlainValue(document)
  if (refused.length > 0) {
    throw new SpecErrors(
      refused.map(({ offset, path, ...rest }) => ({
        file,
        ...locateOffset(yaml, offset ?? 0),
        path: formatPath(path),
        ...rest,
      })),
    )
  }
  return { value, problem: finding => locateFinding(yaml, finding) }
}

function parseYaml(text: string, file: string): ParsedYaml {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error', merge: false } as const
  try {
    return { document: parseDocument(text, options), lines, text, file }
  } catch (cause) {
    // The parser recurses: only extreme nesting overflows the stack.
    const found =
      cause instanceof RangeError ? 'YAML that is nested too deeply' : `unreadable YAML (${String(cause)})`
    const problem = { file, line: 1, column: 1, path: '', found, expected: 'a spec', fix: 'rewrite the file' }
    throw new SpecErrors([problem], cause)
  }
}

function locateFinding(yaml: ParsedYaml, finding: SpecFinding): Problem {
  const { path, at = 'value', ...rest } = finding
  const position = locateOffset(yaml, findOffset(yaml, path, at))
  return { file: yaml.file, ...position, path: formatPath(path), ...rest }
}

/** Returns the offset of a path's key or value, or of its nearest ancestor in the file. */
function findOffset(yaml: ParsedYaml, path: SpecPath, at: 'key' | 'value'): number {
  let node: unknown = yaml.document.contents
  let key = getNodeStart(node) ?? 0
  for (const part of path) {
    const next = findPathStep(node, part, yaml.document)
    if (next === undefined) return key
    key = next.key ?? key
    node = next.node
  }
  return at === 'key' ? key : (getNodeStart(node) ?? key)
}

type PathStep = { key?: number | undefined; node: unknown }

function findPathStep(node: unknown, part: string | number, document: Document): PathStep | undefined {
  const target = isAlias(node) ? node.resolve(document) : node
  if (isSeq(target) && typeof part === 'number') {
    const item = target.items[part]
    return item === undefined ? undefined : { key: getNodeStart(item), node: item }
  }
  if (!isMap(target)) return undefined
  const pair = target.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
  return pair === undefined ? undefined : { key: getNodeStart(pair.key), node: pair.value }
}

function getNodeStart(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

/** Clamps the offset, so that problems of an empty file have a position too. */
function locateOffset(yaml: ParsedYaml, offset: number): { line: number; column: number } {
  const within = Math.min(Math.max(offset, 0), Math.max(yaml.text.length - 1, 0))
  const { line, col } = yaml.lines.linePos(within)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

// Plain values

type RefusedNode = { offset?: number; path: SpecPath; found: string; expected: string; fix: string }

/** Far above any spec, and far below the expansion of a file of nested aliases. */
const MAX_VALUES = 10_000
const MAX_DEPTH = 64
const BOUNDS = `at most ${MAX_VALUES} values, nested ${MAX_DEPTH} deep`

/** Keys that reach an object's prototype when later code copies them carelessly. */
const DANGEROUS_KEYS = new Set(['__proto__', 'constructor', 'prototype'])

function toPlainValue(document: Document): { value: unknown; refused: RefusedNode[] } {
  const converter = new ValueConverter(document)
  return { value: converter.convert(document.contents, []), refused: converter.refused }
}

/** Aliases cannot explode or loop, and keys cannot reach a prototype. */
class ValueConverter {
  readonly refused: RefusedNode[] = []
  private values = 0
  private readonly document: Document
  constructor(document: Document) {
    this.document = document
  }

  convert(node: unknown, path: SpecPath): unknown {
    this.values += 1
    if (this.values > MAX_VALUES || path.length > MAX_DEPTH) return this.refuseExcess(node, path)
    if (isAlias(node)) return this.convertAlias(node, path)
    if (isScalar(node)) return this.convertScalar(node, path)
    if (isSeq(node)) return node.items.map((item, index) => this.convert(item, [...path, index]))
    if (isMap(node)) return this.convertMap(node, path)
    return null
  }

  /** Tags can turn text into bytes or dates; a spec contains neither. */
  private convertScalar(node: Scalar, path: SpecPath): unknown {
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

  private convertAlias(node: Alias, path: SpecPath): unknown {
    const target = node.resolve(this.document)
    if (target !== undefined) return this.convert(target, path)
    return this.refuse(
      node,
      path,
      `*${node.source}, which nothing defines`,
      'an anchor above it',
      'write the value',
    )
  }

  private convertMap(node: YAMLMap, path: SpecPath): Record<string, unknown> {
    const plain: Record<string, unknown> = {}
    for (const pair of node.items) {
      const key = this.readKey(pair, path)
      if (key === undefined) continue
      if (Object.hasOwn(plain, key))
        this.refuse(pair.key, path, `the key ${key} again`, 'each key once', 'remove one')
      plain[key] = this.convert(pair.value, [...path, key])
      if (this.values > MAX_VALUES) break
    }
    return plain
  }

  private readKey(pair: Pair, path: SpecPath): string | undefined {
    const key = isScalar(pair.key) ? pair.key.value : undefined
    if (typeof key === 'number' || typeof key === 'boolean') return String(key)
    if (typeof key === 'string' && !DANGEROUS_KEYS.has(key)) return key
    const found = typeof key === 'string' ? `the key ${describeFoundValue(key)}` : 'a key that is not text'
    this.refuse(pair.key, path, found, 'text as key', 'rename the key')
    return undefined
  }

  private refuseExcess(node: unknown, path: SpecPath): undefined {
    const isReported = this.refused.some(({ expected }) => expected === BOUNDS)
    if (!isReported)
      this.refuse(node, path.slice(0, 4), 'more than a spec can hold', BOUNDS, 'write it without aliases')
    return undefined
  }

  private refuse(node: unknown, path: SpecPath, found: string, expected: string, fix: string): undefined {
    const offset = isNode(node) ? node.range?.[0] : undefined
    this.refused.push({ ...(offset === undefined ? {} : { offset }), path, found, expected, fix })
    return undefined
  }
}

// Syntax problems

type SyntaxProblem = { offset: number; found: string; expected: string; fix: string }

/** One broken place causes many follow-on errors, which hide the first. */
const SYNTAX_PROBLEMS_SHOWN = 5

/** In YAML `>` opens a block scalar and `!` a tag, so an unquoted gate check is the most common mistake. */
const UNQUOTED_CHECK = /\bcheck:\s*[>!<=]/

/** Warnings count as problems: a value with an unresolved tag is not the value it looks like. */
function findSyntaxProblems(document: Document, text: string): SyntaxProblem[] {
  const problems = [...document.errors, ...document.warnings].map(error => describeYamlError(error, text))
  const firstOfEach = problems.filter(
    (one, index) => problems.findIndex(other => isSameProblem(one, other)) === index,
  )
  return firstOfEach.slice(0, SYNTAX_PROBLEMS_SHOWN)
}

function isSameProblem(one: SyntaxProblem, other: SyntaxProblem): boolean {
  return one.offset === other.offset && one.found === other.found
}

function describeYamlError(error: YAMLError, text: string): SyntaxProblem {
  const offset = error.pos[0]
  if (error.code === 'DUPLICATE_KEY') {
    return {
      offset,
      found: 'a key that is already there',
      expected: 'each key once',
      fix: 'remove one of the two',
    }
  }
  if (error.code === 'MULTIPLE_DOCS') {
    return { offset, found: 'a second document', expected: 'one document', fix: 'remove what follows ---' }
  }
  const quote = UNQUOTED_CHECK.test(getLine(text, offset))
  return {
    offset,
    found: `broken YAML (${error.message.split('\n')[0] ?? error.code})`,
    expected: 'YAML 1.2',
    fix: quote ? 'quote the check, as in check: ">= 5"' : 'correct the YAML at this place',
  }
}

function getLine(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', Math.max(offset - 1, 0)) + 1
  const end = text.indexOf('\n', offset)
  return text.slice(start, end === -1 ? undefined : end)
}
