import type { SourceLanguage } from './suspicious-words.ts'

/** Two readings of a source file with the same lines and places. A comment is a blank in both. */
export interface SourceText {
  /** Without quoted sentences, which name things without being code. */
  code: string
  /** Without any quoted text or regular expression, and without what follows where quotes are unclear. */
  skeleton: string
}

/**
 * From the place on where quotes are unclear, everything counts as code: a change must not be able to pass off code
 * as a comment.
 */
export function readSourceText(text: string, language: SourceLanguage): SourceText {
  const { pieces, end } = readPieces(text, language)
  const isProse = ({ kind, start, end }: Piece) =>
    kind === 'comment' || (kind === 'quoted' && SENTENCE.test(text.slice(start + 1, end - 1)))
  const prose = pieces.filter(isProse)
  return {
    code: clearPieces(text, prose),
    skeleton: clearPieces(text, [...pieces, { kind: 'text', start: end, end: text.length }]),
  }
}

/** A piece of a file that is no code. A `quoted` one lies between two quotes of one line. */
interface Piece {
  kind: 'comment' | 'quoted' | 'text'
  start: number
  end: number
}

const SENTENCE = /^[A-Za-z][\w,.:!?()-]* [\w ,.:!?()<>'"\\-]*$/

function clearPieces(text: string, pieces: readonly Piece[]): string {
  const parts: string[] = []
  let at = 0
  for (const { kind, start, end } of pieces) {
    const piece = text.slice(start, end)
    const blanked =
      kind === 'comment' ? ` ${piece.replaceAll(/[^\n]/g, '')}` : piece.replaceAll(/[^\n]/g, ' ')
    parts.push(text.slice(at, start), blanked)
    at = end
  }
  return parts.join('') + text.slice(at)
}

/** The piece that starts at a place; null for a letter of code, 'unclear' where the text does not tell. */
type Found = { kind: Piece['kind']; end: number } | { skipTo: number } | null | 'unclear'
type Read = (text: string, at: number, context: Context) => Found

/** The code and prose that were read so far. */
interface Context {
  /** Open brackets. */
  depth: number
  /** The depths at which templates of JavaScript hold code. */
  templates: number[]
  /** The code before the place, where a quote stands for each text. */
  before: string
  /** For each open round bracket, whether a statement follows its end; then, whether one follows the last end. */
  conditions: boolean[]
  isAfterCondition: boolean
}

/** `end`: where quotes become unclear. */
function readPieces(text: string, language: SourceLanguage): { pieces: Piece[]; end: number } {
  // Only comments without a sign that could end a text of several lines
  if (language === 'other')
    return { pieces: listComments(text, /^[ \t]*(?:#|\/\/|--)[\w \t]*[.:]?[ \t]*$/gm), end: text.length }
  if (language === 'ruby') return { pieces: listRubyComments(text), end: text.length }
  // In Java, \u000a ends a line, also that of a comment.
  if (language === 'java' && /\\u+00[0-7]/.test(text)) return { pieces: [], end: 0 }
  // Markup has other comments than code, and old scripts take <!-- and --> for the start of one.
  if (language === 'js' && /<!--|-->|<\/?(?:script|style|template|html|svg)\b/i.test(text))
    return { pieces: [], end: 0 }
  const read = READERS[language]
  const context: Context = { depth: 0, templates: [], before: '', conditions: [], isAfterCondition: false }
  const pieces: Piece[] = []
  let at = 0
  while (at < text.length) {
    PLAIN.lastIndex = at
    const [plain] = PLAIN.exec(text) ?? []
    const found = plain === undefined ? read(text, at, context) : { skipTo: at + plain.length }
    if (found === 'unclear') break
    if (plain !== undefined) remember(context, plain)
    else if (found === null) follow(context, text.charAt(at))
    else if ('skipTo' in found) follow(context, text.charAt(found.skipTo - 1))
    else {
      const { kind, end } = found
      if (kind !== 'comment') follow(context, text.startsWith('${', end - 2) ? ';' : '"')
      pieces.push({ kind, start: at, end })
    }
    at = found === null ? at + 1 : 'skipTo' in found ? found.skipTo : found.end
  }
  return { pieces, end: Math.min(at, text.length) }
}

/** No text or comment starts with these. */
const PLAIN = /[\w\s,.;:=+*!?&|%^~@$>-]+/y
const REMEMBERED = 40
const CONDITION = /(?<![\w$.#]|\. )(?:if|while|for|for await|with) ?$/

function follow(context: Context, letter: string): void {
  if ('([{'.includes(letter)) context.depth += 1
  else if (')]}'.includes(letter)) context.depth -= 1
  if (letter === '(') context.conditions.push(CONDITION.test(context.before))
  if (letter === ')') context.isAfterCondition = context.conditions.pop() ?? true
  remember(context, letter)
}

function remember(context: Context, code: string): void {
  context.before = (context.before + code.slice(-REMEMBERED)).replaceAll(/\s+/g, ' ').slice(-REMEMBERED)
}

const READERS: Record<Exclude<SourceLanguage, 'ruby' | 'other'>, Read> = {
  js: readJs,
  python: readPython,
  go: (text, at) =>
    text[at] === '/' && /^\/\/(?:go:|export |\s*\+build)/.test(text.slice(at, at + 20))
      ? { skipTo: findEnd(text, '\n', at) }
      : (readSlashComment(text, at) ?? readUntil(text, at, '`') ?? readQuoted(text, at)),
  rust: readRust,
  java: (text, at) => readSlashComment(text, at) ?? readJavaText(text, at),
  c: readC,
  shell: readShell,
}

function readSlashComment(text: string, at: number): Found {
  if (text.startsWith('//', at)) return { kind: 'comment', end: findEnd(text, '\n', at) }
  if (!text.startsWith('/*', at)) return null
  const end = text.indexOf('*/', at + 2)
  return end < 0 ? 'unclear' : { kind: 'comment', end: end + 2 }
}

function findEnd(text: string, mark: string, from: number): number {
  const end = text.indexOf(mark, from)
  return end < 0 ? text.length : end
}

function readUntil(text: string, at: number, quote: string): Found {
  if (text[at] !== quote) return null
  const end = text.indexOf(quote, at + 1)
  return end < 0 ? 'unclear' : { kind: 'text', end: end + 1 }
}

function readQuoted(text: string, at: number): Found {
  return text[at] === '"' || text[at] === "'" ? readEscaped(text, at, text.charAt(at)) : null
}

/** A backslash escapes the next letter. One at the end of a line continues the text. */
function readEscaped(text: string, at: number, quote: string, mayHoldLines = false): Found {
  for (let end = at + quote.length; end < text.length; end += 1) {
    if (text[end] === '\\') end += text.startsWith('\r\n', end + 1) ? 2 : 1
    else if (text.startsWith(quote, end)) {
      const isOneLine = !mayHoldLines && !text.slice(at, end).includes('\n')
      return { kind: isOneLine ? 'quoted' : 'text', end: end + quote.length }
    } else if (text[end] === '\n' && !mayHoldLines) return 'unclear'
  }
  return 'unclear'
}

function readTripled(text: string, at: number): Found {
  const quote = text.slice(at, at + 3)
  return quote === '"""' || quote === "'''" ? readEscaped(text, at, quote, true) : null
}

/** Texts of Kotlin, Scala and Groovy hold code after a dollar sign, and some know no escapes. */
function readJavaText(text: string, at: number): Found {
  const found = readTripled(text, at) ?? readQuoted(text, at)
  if (found === null || found === 'unclear' || 'skipTo' in found) return found
  const content = text.slice(at, found.end)
  const isClear = !content.includes('${') && (found.kind === 'quoted' || !content.includes('\\'))
  return isClear ? found : 'unclear'
}

// JavaScript

function readJs(text: string, at: number, context: Context): Found {
  const letter = text[at]
  if (letter === '`') return readTemplate(text, at + 1, context)
  if (letter === '}' && context.templates.at(-1) === context.depth) {
    context.templates.pop()
    context.depth -= 1
    return readTemplate(text, at + 1, context)
  }
  const comment = readSlashComment(text, at)
  if (comment === null) return letter === '/' ? readPattern(text, at, context) : readQuoted(text, at)
  // Between tags, what looks like a comment is a text, which may hold code in braces.
  const isBetweenTags = comment !== 'unclear' && 'end' in comment && /[{}]/.test(text.slice(at, comment.end))
  return isBetweenTags && /<\/|\/>/.test(text) ? 'unclear' : comment
}

/** A template up to its end, or to code inside it. */
function readTemplate(text: string, from: number, context: Context): Found {
  for (let end = from; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1
    else if (text[end] === '`') return { kind: 'text', end: end + 1 }
    else if (text.startsWith('${', end)) {
      context.depth += 1
      context.templates.push(context.depth)
      return { kind: 'text', end: end + 2 }
    }
  }
  return 'unclear'
}

const BEFORE_PATTERN =
  /(?:^|[=(,:;[{&|?*%~^]|=>|(?<![\w$.#]|\. )(?:return|typeof|case|void|throw|else)|[=(,:;[{&|?] ?!+) ?$/
const BEFORE_DIVISION = /[\w$\]"] ?$/
const KEYWORD = /(?<![\w$.#])(?:in|of|delete|new|do|await|yield|instanceof) ?$/
const PATTERN = /^\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/

/** After a curly bracket nobody can tell a division from a regular expression. */
function readPattern(text: string, at: number, { before, isAfterCondition }: Context): Found {
  const line = text.slice(at, findEnd(text, '\n', at))
  const isAfterBracket = /\) ?$/.test(before)
  if (BEFORE_PATTERN.test(before) || (isAfterBracket && isAfterCondition)) {
    const [pattern] = PATTERN.exec(line) ?? []
    return pattern === undefined ? 'unclear' : { kind: 'text', end: at + pattern.length }
  }
  if (isAfterBracket || (BEFORE_DIVISION.test(before) && !KEYWORD.test(before))) return null
  return /\} ?$/.test(before) && /^\/[^/'"`]*$/.test(line) ? null : 'unclear'
}

// Python

function readPython(text: string, at: number, { depth }: Context): Found {
  if (text[at] === '#') return { kind: 'comment', end: findEnd(text, '\n', at) }
  const found = readTripled(text, at) ?? readQuoted(text, at)
  if (found === null || found === 'unclear' || 'skipTo' in found) return found
  const content = text.slice(at, found.end)
  const [prefix = ''] = /\w*$/.exec(text.slice(Math.max(0, at - 4), at)) ?? []
  if (/[ft]/i.test(prefix) && content.includes('{'))
    return isPlainFormat(content) ? { skipTo: found.end } : 'unclear'
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  // A text that is a statement of its own explains something. A test runner may run the examples in it.
  const isStatement =
    depth === 0 &&
    text.slice(lineStart, at).trim() === '' &&
    !/\\\r?\n$/.test(text.slice(Math.max(0, lineStart - 3), lineStart)) &&
    /^[ \t]*(?:\r?\n|$)/.test(text.slice(found.end, found.end + 80)) &&
    !content.includes('>>>')
  return isStatement ? { kind: 'comment', end: found.end } : found
}

/** The braces of a formatted text hold code, which may hold the quote that seems to end the text. */
function isPlainFormat(content: string): boolean {
  let depth = 0
  for (let at = content.startsWith(content.charAt(0).repeat(3)) ? 3 : 1; at < content.length - 1; at += 1) {
    const letter = content.charAt(at)
    if (depth === 0 && (letter === '\\' || content.startsWith('{{', at) || content.startsWith('}}', at)))
      at += 1
    else if (letter === '{') depth += 1
    else if (letter === '}') depth -= 1
    else if (depth > 0 && (letter === '"' || letter === "'")) {
      at = content.indexOf(letter, at + 1)
      if (at < 0 || letter === content[0]) return false
    }
  }
  return depth === 0
}

// Rust, C, shell, Ruby

function readRust(text: string, at: number): Found {
  if (text.startsWith('/*', at)) return readNestedComment(text, at)
  const letter = text[at]
  if (letter === '"') return readRustText(text, at)
  if (letter !== "'") return readSlashComment(text, at)
  // A letter in quotes, or the name of a lifetime
  const [character] =
    /^'(?:\\[^\n][^'\n]*|[^\\'\n]|[\ud800-\udbff][\udc00-\udfff])'/.exec(text.slice(at, at + 16)) ?? []
  return character === undefined ? null : { kind: 'text', end: at + character.length }
}

function readRustText(text: string, at: number): Found {
  const [, marks] = /(?:^|\W)[bc]?r(#*)$/.exec(text.slice(Math.max(0, at - 20), at)) ?? []
  if (marks !== undefined) {
    const end = text.indexOf(`"${marks}`, at + 1)
    return end < 0 ? 'unclear' : { kind: 'text', end: end + 1 + marks.length }
  }
  const found = readEscaped(text, at, '"', true)
  if (found === null || found === 'unclear' || 'skipTo' in found) return found
  return text.slice(at, found.end).includes('\n') ? found : { ...found, kind: 'quoted' }
}

function readNestedComment(text: string, at: number): Found {
  let depth = 0
  for (let end = at; end < text.length; end += 1) {
    if (text.startsWith('/*', end)) depth += 1
    else if (text.startsWith('*/', end)) depth -= 1
    else continue
    end += 1
    if (depth === 0) return { kind: 'comment', end: end + 1 }
  }
  return 'unclear'
}

/** A backslash at the end of a line joins it to the next, also between the signs of a comment. */
function readC(text: string, at: number): Found {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  if (/^\s*#\s*(?:include|error|warning)\b/.test(line)) return { skipTo: findEnd(text, '\n', at) }
  const found = readSlashComment(text, at)
  if (found !== null && found !== 'unclear' && 'end' in found)
    return /\\\s*$|\?\?\//m.test(text.slice(at, found.end)) ? 'unclear' : found
  if (found !== null) return found
  if (/^(?:\/\\\s*\n)/.test(text.slice(at, at + 8)) || (text[at] === '"' && text[at - 1] === 'R'))
    return 'unclear'
  const isSeparator = text[at] === "'" && /^[\da-f]'[\da-f]$/i.test(text.slice(Math.max(0, at - 1), at + 2))
  return isSeparator ? null : readQuoted(text, at)
}

function readShell(text: string, at: number): Found {
  const letter = text[at]
  if (letter === '\\') return { skipTo: at + 2 }
  if (text.startsWith('<<', at) || (letter === "'" && text[at - 1] === '$')) return 'unclear'
  // A sign after a blank starts no comment in ${word:- #}.
  if (letter === '{' && text[at - 1] === '$' && !/^\{[^\s{}]*\}/.test(text.slice(at, at + 80)))
    return 'unclear'
  if (letter === "'") return readUntil(text, at, "'")
  if (letter === '"') return readShellText(text, at)
  const isComment = letter === '#' && /^$|[\s;]/.test(text.charAt(at - 1)) && text[at + 1] !== '!'
  return isComment ? { kind: 'comment', end: findEnd(text, '\n', at) } : null
}

/** A text that holds commands has quotes of its own. If they pair up in its line, that line counts as code. */
function readShellText(text: string, at: number): Found {
  const found = readEscaped(text, at, '"', true)
  if (found === null || found === 'unclear' || 'skipTo' in found) return found
  const content = text.slice(at, found.end)
  const count = (within: string, mark: RegExp) => (within.match(mark) ?? []).length
  if (!/\$\(|`/.test(content) && count(content, /\$\{/g) === count(content, /\}/g)) return found
  const line = text.slice(at, findEnd(text, '\n', at))
  const isClear = count(line, /"/g) % 2 === 0 && !/['\\`]|<<|\s#/.test(line)
  return isClear && count(line, /\(/g) === count(line, /\)/g) ? { skipTo: at + line.length } : 'unclear'
}

/** Only comments without a sign that could end a text of several lines. */
function listRubyComments(text: string): Piece[] {
  return /%[qQwWiIrsx]?[^\w\s=]/.test(text) ? [] : listComments(text, /^[ \t]*#(?!!)[^"'`/{}|\n]*$/gm)
}

function listComments(text: string, lines: RegExp): Piece[] {
  return [...text.matchAll(lines)].map(({ 0: line, index }) => ({
    kind: 'comment',
    start: index,
    end: index + line.length,
  }))
}
