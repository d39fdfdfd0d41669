/** Invisible on screen. It breaks a mention or reference that it is inserted into. */
const ZERO_WIDTH_SPACE = '\u200b'

/**
 * Neutralizes text from branches before GitHub reads it in commit messages, titles or comments. The result looks the
 * same, but mentions no user, refers to no issue, closes none, links nowhere and skips no workflow.
 */
export function neutralizeMentions(text: string): string {
  return neutralizeReferences(text).replace(SKIP_CI, found => `${found}${ZERO_WIDTH_SPACE}`)
}

/** In the message of a head commit these markers skip every check of a pull request. */
const SKIP_CI = /\[(?=(?:skip (?:ci|actions)|(?:ci|actions) skip|no ci)\])/gi

export function neutralizeReferences(text: string): string {
  return text
    .replace(/[@#](?=[\p{L}\p{N}_])/gu, character => `${character}${ZERO_WIDTH_SPACE}`)
    .replace(/\bGH-(?=\d)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
    .replace(/:(?=\/\/)/g, `:${ZERO_WIDTH_SPACE}`)
    .replace(/\bwww(?=\.)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
}

// Reasons

/** The reason for an end: one complete sentence, and the evidence where pairs decided. */
interface ReasonText {
  sentence: string
  evidence: string | null
}

const DIVIDER = '\n'
const EVIDENCE_LINE = `${DIVIDER}evidence `

/** Formats the reason as the ledger stores it: the sentence, then the evidence on its own line. */
export function formatReason({ sentence, evidence }: ReasonText): string {
  return evidence === null ? sentence : `${sentence}${DIVIDER}${evidence}`
}

export function parseReason(text: string): ReasonText {
  const at = text.indexOf(EVIDENCE_LINE)
  if (at === -1) return { sentence: text, evidence: null }
  return { sentence: text.slice(0, at), evidence: text.slice(at + DIVIDER.length) }
}

export function appendToSentence(text: string | undefined, aside: string): string {
  if (text === undefined || text === '') return aside
  const { sentence, evidence } = parseReason(text)
  const [start, end] = sentence.endsWith('.') ? [sentence.slice(0, -1), '.'] : [sentence, '']
  return formatReason({ sentence: `${start}; ${aside}${end}`, evidence })
}

// Sentences and lists

export function toSentenceCase(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}

/** Returns "a, b, c and 2 more". */
export function joinFirst(names: readonly string[], most: number): string {
  const more = names.length - most
  return `${names.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

// Untrusted text

/** Changes nothing else: invisible characters, double spaces and the rest of an escape sequence stay. */
export function toOneLine(text: string, length: number): string {
  return capLength(text.replace(CONTROL_CHARACTER_RUNS, ' ').trim(), length)
}

/**
 * For a text of others where winnow takes it: on one line, visible, with single spaces. It cannot steer a terminal,
 * start a line of its own, forge a trailer or hide words.
 */
export function toSafeLine(text: string, most: number): string {
  return capLength(toVisibleText(text).replace(/\s+/g, ' ').trim(), most)
}

export function toSafeParagraphs(text: string, most: number): string {
  return capLength(toVisibleText(text).trim(), most)
}

/** A Markdown code span that its content cannot end. */
export function quoteCode(text: string, most: number): string {
  return `\`${toSafeLine(text, most).replaceAll('`', "'")}\``
}

/** Escape sequences, control characters and direction changes could hide or fake output of a terminal. */
const ESCAPE = String.fromCodePoint(27)
const BELL = String.fromCodePoint(7)
/** A sequence without an end takes no more than its line, because results may follow on the next one. */
const SEQUENCES = new RegExp(
  [
    String.raw`\[[0-?]*[ -/]*[@-~]`,
    String.raw`\][^${BELL}${ESCAPE}]*(?:${BELL}|${ESCAPE}\\)`,
    String.raw`\][^${BELL}${ESCAPE}\n]*`,
    String.raw`[PX^_][^${ESCAPE}]*${ESCAPE}\\`,
    String.raw`[PX^_][^${ESCAPE}\n]*`,
    '[ -/]*[0-~]',
  ]
    .map(each => `${ESCAPE}${each}`)
    .join('|'),
  'g',
)
export const CONTROL_CHARACTERS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const CONTROL_CHARACTER_RUNS = new RegExp(`${CONTROL_CHARACTERS.source}+`, 'gu')

/** Keeps line ends, tabs, and the invisible characters that words need or that neutralize a mention. */
export function toPlainText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(SEQUENCES, '')
    .replace(CONTROL_CHARACTERS, character => (character === '\n' || character === '\t' ? character : ''))
}

/** The same without any invisible character, which could hide words from a person. A lone CR ends a line. */
export function toVisibleText(text: string): string {
  return toPlainText(text.replace(/\r\n?/g, '\n')).replace(/[^\P{C}\n\t]/gu, '')
}

function capLength(text: string, most: number): string {
  return text.length <= most ? text : `${cutText(text, most - 1)}…`
}

/** Does not cut a surrogate pair in half, which is invalid JSON for some readers. */
export function cutText(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
}

// Shell words

/** Leaves a word bare that no shell changes. */
export function quoteShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
