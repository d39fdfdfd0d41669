import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { type SpecFinding, type Problem, formatPath, type SpecPath, SpecErrors } from './problem.ts'
import { toPlainValue } from './plain-value.ts'
import { findSyntaxProblems } from './yaml-syntax.ts'

/** A YAML file as a plain value that still knows where each part of it stands. */
export type SourceDocument = {
  value: unknown
  problem(finding: SpecFinding): Problem
}

type ParsedYaml = { document: Document; lines: LineCounter; text: string; file: string }

/** Every problem points into the file, also those of an empty one. */
function locateOffset(reading: ParsedYaml, offset: number): { line: number; column: number } {
  const within = Math.min(Math.max(offset, 0), Math.max(reading.text.length - 1, 0))
  const { line, col } = reading.lines.linePos(within)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

function getNodeStart(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined
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

/** The offset of a path's key or value, or of the nearest thing above it that is in the file. */
function findOffset(reading: ParsedYaml, path: SpecPath, at: 'key' | 'value'): number {
  let node: unknown = reading.document.contents
  let key = getNodeStart(node) ?? 0
  for (const part of path) {
    const next = findPathStep(node, part, reading.document)
    if (next === undefined) return key
    key = next.key ?? key
    node = next.node
  }
  return at === 'key' ? key : (getNodeStart(node) ?? key)
}

function locateFinding(reading: ParsedYaml, finding: SpecFinding): Problem {
  const { path, at = 'value', ...rest } = finding
  const place = locateOffset(reading, findOffset(reading, path, at))
  return { file: reading.file, ...place, path: formatPath(path), ...rest }
}

function parseYaml(text: string, file: string): ParsedYaml {
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
  const reading = parseYaml(text, file)
  const { document } = reading
  const broken = findSyntaxProblems(document, text)
  if (broken.length > 0) {
    throw new SpecErrors(
      broken.map(({ offset, ...rest }) => ({ file, ...locateOffset(reading, offset), path: '', ...rest })),
    )
  }
  const { value, refused } = toPlainValue(document)
  if (refused.length > 0) {
    throw new SpecErrors(
      refused.map(({ offset, path, ...rest }) => ({
        file,
        ...locateOffset(reading, offset ?? 0),
        path: formatPath(path),
        ...rest,
      })),
    )
  }
  return { value, problem: finding => locateFinding(reading, finding) }
}
