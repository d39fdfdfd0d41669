import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { type Finding, type Problem, pathText, type SpecPath, SpecErrors } from './problem.ts'
import { plainValue } from './plain-value.ts'
import { syntaxProblems } from './yaml-syntax.ts'

/** A YAML file as a plain value that still knows where each part of it stands. */
export type SourceDocument = {
  value: unknown
  problem(finding: Finding): Problem
}

type Reading = { document: Document; lines: LineCounter; text: string; file: string }

/** Every problem points into the file, also those of an empty one. */
function position(reading: Reading, offset: number): { line: number; column: number } {
  const within = Math.min(Math.max(offset, 0), Math.max(reading.text.length - 1, 0))
  const { line, col } = reading.lines.linePos(within)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
}

type Step = { key?: number | undefined; node: unknown }

function step(node: unknown, part: string | number, document: Document): Step | undefined {
  const target = isAlias(node) ? node.resolve(document) : node
  if (isSeq(target) && typeof part === 'number') {
    const item = target.items[part]
    return item === undefined ? undefined : { key: startOf(item), node: item }
  }
  if (!isMap(target)) return undefined
  const pair = target.items.find(({ key }) => isScalar(key) && String(key.value) === String(part))
  return pair === undefined ? undefined : { key: startOf(pair.key), node: pair.value }
}

/** The offset of a path's key or value, or of the nearest thing above it that is in the file. */
function offsetOf(reading: Reading, path: SpecPath, at: 'key' | 'value'): number {
  let node: unknown = reading.document.contents
  let key = startOf(node) ?? 0
  for (const part of path) {
    const next = step(node, part, reading.document)
    if (next === undefined) return key
    key = next.key ?? key
    node = next.node
  }
  return at === 'key' ? key : (startOf(node) ?? key)
}

function locate(reading: Reading, finding: Finding): Problem {
  const { path, at = 'value', ...rest } = finding
  const place = position(reading, offsetOf(reading, path, at))
  return { file: reading.file, ...place, path: pathText(path), ...rest }
}

function parse(text: string, file: string): Reading {
  const lines = new LineCounter()
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'error', merge: false } as const
  try {
    return { document: parseDocument(text, options), lines, text, file }
  } catch (cause) {
    // The parser recurses: what it cannot finish is nested beyond anything a person writes.
    const found =
      cause instanceof RangeError ? 'YAML that is nested too deeply' : `unreadable YAML (${String(cause)})`
    const problem = { file, line: 1, column: 1, path: '', found, expected: 'a spec', fix: 'rewrite the file' }
    throw new SpecErrors([problem], cause)
  }
}

export function readDocument(text: string, file: string): SourceDocument {
  const reading = parse(text, file)
  const { document } = reading
  const broken = syntaxProblems(document, text)
  if (broken.length > 0) {
    throw new SpecErrors(
      broken.map(({ offset, ...rest }) => ({ file, ...position(reading, offset), path: '', ...rest })),
    )
  }
  const { value, refused } = plainValue(document)
  if (refused.length > 0) {
    throw new SpecErrors(
      refused.map(({ offset, path, ...rest }) => ({
        file,
        ...position(reading, offset ?? 0),
        path: pathText(path),
        ...rest,
      })),
    )
  }
  return { value, problem: finding => locate(reading, finding) }
}
