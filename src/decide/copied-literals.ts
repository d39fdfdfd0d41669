/** Literals of tests and benchmarks in a candidate: as they are, in pieces, or in a code that is easy to undo. */
export interface RulerTexts {
  texts: readonly string[]
  literals: ReadonlySet<string>
  /** The words of all texts in their order, and each of them once. */
  sequence: string
  words: ReadonlySet<string>
}

export interface AddedLine {
  number: number
  text: string
}

const MOST_SPLIT = 100_000
const known = new WeakMap<readonly string[], RulerTexts>()

/** Candidates of a tick share their rulers. */
export function readRulerTexts(texts: readonly string[]): RulerTexts {
  const found = known.get(texts) ?? buildRulerTexts(texts)
  known.set(texts, found)
  return found
}

function buildRulerTexts(texts: readonly string[]): RulerTexts {
  const words = texts.flatMap(text => splitWords(text.slice(0, MOST_SPLIT)))
  return {
    texts,
    literals: new Set(texts.flatMap(text => [...readLiterals(text)])),
    sequence: ` ${words.join(' ')} `,
    words: new Set(words),
  }
}

/** `before`: the file as it was, and `own`: other files of the program, whose literals are not new. */
export function findCopiedLines<Line extends AddedLine>(
  added: readonly Line[],
  rulers: RulerTexts,
  { before, own }: { before: string; own: readonly string[] },
): Line[] {
  if (rulers.texts.length === 0) return []
  const isNew = (literal: string) => !before.includes(literal)
  // A message that moves, or gets a comma before it
  const isNewText = (literal: string) => {
    const words = literal.replaceAll(/^\W+|\W+$/g, '')
    return isNew(words.length < LEAST_LENGTH ? literal : words) && !own.some(text => text.includes(literal))
  }
  const answers = listAnswers(added, rulers, isNew)
  const copied = (line: Line, at: number) =>
    hasCopiedLiteral(line.text, rulers, isNewText) ||
    countAnswers(added.slice(at, at + NEAR), answers) >= LEAST_ANSWERS
  const found = new Set([...added.filter(copied), ...findHiddenSequence(added, rulers, isNewText)])
  return [...found].filter(({ text }) => !GO_IMPORT.test(text))
}

const LITERAL = /(["'`])((?:(?!\1)[^\\\n]|\\.){12,})\1|(?<![\w.])(\d[\d_]*\.?\d*)(?![\w.])/g
/** Names and paths occur in code and tests alike. */
const NAME_OR_PATH = /^[\w@:./-]{1,24}$/
const GO_IMPORT = /^\s*(?:import\s+)?(?:\w+\s+)?"[a-z][\w-]*\.[a-z]+\/[\w./-]+"\s*$/
const LEAST_DIGITS = 5
const ALPHABETIC = 0.8

/** Shorter texts and round numbers occur by chance: `utf8`, 100000, 65536. */
function* readLiterals(text: string): Generator<string> {
  for (const [, , quoted, number = ''] of text.matchAll(LITERAL)) {
    if (quoted !== undefined && !NAME_OR_PATH.test(quoted) && !isOrdinary(quoted)) yield quoted
    const digits = number.replaceAll('_', '')
    if (digits.length >= LEAST_DIGITS && !isRoundNumber(Number(digits))) yield digits
  }
}

/** An alphabet, or what stands between two texts: `'a': 1, 'b': 2, 'c'`. */
function isOrdinary(text: string): boolean {
  if (/^\s*[:,)\]].*[,([:{]\s*$/.test(text)) return true
  const signs = Array.from(text, sign => sign.codePointAt(0) ?? 0)
  const next = signs.filter((sign, at) => at > 0 && sign - (signs[at - 1] ?? 0) === 1)
  return next.length >= signs.length * ALPHABETIC
}

function isRoundNumber(value: number): boolean {
  return (
    Number.isInteger(Math.log2(value)) ||
    Number.isInteger(Math.log2(value + 1)) ||
    /^\d{1,2}0*$/.test(`${value}`)
  )
}

function hasCopiedLiteral(
  text: string,
  { texts, literals }: RulerTexts,
  isNew: (literal: string) => boolean,
): boolean {
  return [...readLiterals(text), ...listComparedTexts(text)].some(
    literal =>
      isNew(literal) &&
      (literals.has(literal) || (literal.includes(' ') && texts.some(ruler => ruler.includes(literal)))),
  )
}

// Short texts, which tell something only together, or where an input is compared with them

const LEAST_ANSWERS = 3
/** Answers may stand on lines of their own. */
const NEAR = 8
const SHORT_LITERAL = /(["'`])((?:(?!\1)[^\\\n]){2,11})\1/g
/** Words alone occur in code and tests alike. */
const ANSWER = /\d|\S\s+\S/

function listAnswers(
  added: readonly AddedLine[],
  { texts }: RulerTexts,
  isNew: (literal: string) => boolean,
): ReadonlySet<string> {
  const all = new Set(added.flatMap(({ text }) => listShortAnswers(text)))
  return new Set([...all].filter(each => isNew(each) && isQuoted(each, texts)))
}

function countAnswers([first, ...others]: readonly AddedLine[], answers: ReadonlySet<string>): number {
  const own = first === undefined ? [] : listShortAnswers(first.text).filter(each => answers.has(each))
  if (first === undefined || own.length === 0) return 0
  const near = others.filter(({ number }) => number < first.number + NEAR)
  const all = near.flatMap(({ text }) => listShortAnswers(text).filter(each => answers.has(each)))
  return new Set([...own, ...all]).size
}

function listShortAnswers(text: string): string[] {
  return [...text.matchAll(SHORT_LITERAL)].flatMap(([, , literal = '']) =>
    ANSWER.test(literal) ? [literal] : [],
  )
}

function isQuoted(literal: string, texts: readonly string[]): boolean {
  return texts.some(ruler => ['"', "'", '`'].some(quote => ruler.includes(`${quote}${literal}${quote}`)))
}

const COMPARED_TEXT =
  /(?:(?:starts|ends)_?[wW]ith|includes|contains|indexOf|find|hasPrefix|HasPrefix|strstr|strn?cmp|[!=]==?|\bin|\bcase)\s*\(?\s*(?:\w+\s*,\s*)?(["'`])((?:(?!\1)[^\\\n]){5,11})\1/g

function listComparedTexts(text: string): string[] {
  return [...text.matchAll(COMPARED_TEXT)].flatMap(([, , literal = '']) =>
    /\S\s+\S/.test(literal) ? [literal] : [],
  )
}

// Texts in a code

type Decode = (text: string) => string

const LETTERS = 26
const shift =
  (by: number): Decode =>
  text =>
    Array.from(text, sign => String.fromCodePoint(Math.max(0, (sign.codePointAt(0) ?? 0) + by))).join('')
const rotate =
  (by: number): Decode =>
  text =>
    text
      .toLowerCase()
      .replaceAll(/[a-z]/g, letter => String.fromCodePoint(97 + ((letter.charCodeAt(0) - 97 + by) % LETTERS)))
const decodeBytes =
  (pattern: RegExp, encoding: 'base64' | 'hex'): Decode =>
  text =>
    text.replaceAll(pattern, bytes => Buffer.from(bytes, encoding).toString('latin1'))
const ONE_TO_25 = Array.from({ length: LETTERS - 1 }, (_, at) => at + 1)
const DECODES: readonly Decode[] = [
  text => Array.from(text).toReversed().join(''),
  decodeBytes(/[\w+/-]{8,}={0,2}/g, 'base64'),
  decodeBytes(/(?:[0-9a-fA-F]{2}){4,}/g, 'hex'),
  text =>
    text.replaceAll(/(?:\\x|\\u00|%)([0-9a-fA-F]{2})/g, (_, code) =>
      String.fromCodePoint(parseInt(code, 16)),
    ),
  ...ONE_TO_25.flatMap(by => [shift(by), shift(-by), rotate(by)]),
]

const QUOTED = /(["'`])((?:(?!\1)[^\\\n]|\\.)+)\1|0x([0-9a-fA-F]{8,})/g
/** Numbers of printable characters. */
const CODES = /(?<![\w.])(?:3[2-9]|[4-9]\d|1[01]\d|12[0-6])(?![\w.])|[\])}]/g
/** A message has words in common with a test that expects it. If all of it is copied, another rule finds it. */
const SENTENCE = /[\p{L}\p{N}] [\p{L}\p{N}]/u
const SPLITS = /split|fields|words/i
const LEAST_PLAIN = 5
const LEAST_CODED = 4
const LEAST_LENGTH = 10

interface CodedPiece<Line> {
  line: Line
  text: string
}

/** A row of words that a test has in this order: `'the', 'and', 'in'`, `'eht dna ni'` or `[116, 104, 101, 32]`. */
function findHiddenSequence<Line extends AddedLine>(
  added: readonly Line[],
  rulers: RulerTexts,
  isNew: (literal: string) => boolean,
): Line[] {
  const pieces = added.flatMap(line =>
    [...line.text.matchAll(QUOTED)]
      .map(([, , quoted, hex]) => quoted ?? hex ?? '')
      .filter(isNew)
      .map(text => ({ line, text })),
  )
  const codes = added.map(line => ({ line, text: readCodes(line.text) }))
  const found = [
    findSequence(
      pieces.filter(({ line, text }) => !SENTENCE.test(text) || SPLITS.test(line.text)),
      LEAST_PLAIN,
      rulers,
    ),
    findSequence(codes, LEAST_CODED, rulers),
    ...DECODES.map(decode =>
      findSequence(
        pieces.flatMap(({ line, text }) => (decode(text) === text ? [] : [{ line, text: decode(text) }])),
        LEAST_CODED,
        rulers,
      ),
    ),
  ]
  return found.filter(line => line !== null)
}

function readCodes(text: string): string {
  return [...text.matchAll(CODES)]
    .map(([code]) => (/\d/.test(code) ? String.fromCodePoint(Number(code)) : ' '))
    .join('')
}

function findSequence<Line>(
  pieces: readonly CodedPiece<Line>[],
  least: number,
  { words, sequence }: RulerTexts,
): Line | null {
  const all = pieces.flatMap(({ line, text }) => splitWords(text).map(word => ({ line, word })))
  for (const [at, { line }] of all.entries()) {
    const row = all.slice(at, at + least).map(({ word }) => word)
    if (row.length < least || !row.every(word => words.has(word))) continue
    const text = row.join(' ')
    if (text.length >= LEAST_LENGTH && sequence.includes(` ${text} `)) return line
  }
  return null
}

function splitWords(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}
