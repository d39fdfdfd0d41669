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

export function toOneLine(text: string, length: number): string {
  return capLength(text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ').trim(), length)
}

/** Untrusted text on one line cannot steer a terminal, start a line of its own or forge a trailer. */
export function toSafeLine(text: string, most: number): string {
  return capLength(toPrintable(text).replace(/\s+/g, ' ').trim(), most)
}

export function toSafeParagraphs(text: string, most: number): string {
  return capLength(toPrintable(text).trim(), most)
}

/** A Markdown code span that its content cannot end. */
export function quoteCode(text: string, most: number): string {
  return `\`${toSafeLine(text, most).replaceAll('`', "'")}\``
}

const ESCAPE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[ -/]*[@-~]`, 'g')

/** Removes control characters, escape sequences and direction overrides. Keeps line ends and tabs. */
export function toPrintable(text: string): string {
  return text
    .replace(ESCAPE, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[^\P{C}\n\t]/gu, '')
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
