/** Ends nothing on the screen, and a name that begins behind it is none. */
const ZERO_WIDTH_SPACE = '\u200b'

/**
 * Text from branches on its way to where a forge reads it (messages of commits, titles, comments): it mentions
 * nobody, refers to no issue, closes none, links nowhere and keeps no workflow from running, and still reads the same.
 */
export function neutralizeMentions(text: string): string {
  return neutralizeReferences(text).replace(SKIP_CI, found => `${found}${ZERO_WIDTH_SPACE}`)
}

/** In the message of a head commit these keep every check of a pull request from running. */
const SKIP_CI = /\[(?=(?:skip (?:ci|actions)|(?:ci|actions) skip|no ci)\])/gi

export function neutralizeReferences(text: string): string {
  return text
    .replace(/[@#](?=[\p{L}\p{N}_])/gu, character => `${character}${ZERO_WIDTH_SPACE}`)
    .replace(/\bGH-(?=\d)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
    .replace(/:(?=\/\/)/g, `:${ZERO_WIDTH_SPACE}`)
    .replace(/\bwww(?=\.)/gi, found => `${found}${ZERO_WIDTH_SPACE}`)
}

/** Why something ended, as people read it: one sentence that stands alone, and what it rests on, where pairs decided. */
interface ReasonText {
  sentence: string
  /** The evidence line, which always begins with "evidence". */
  evidence: string | null
}

const DIVIDER = '\n'
const EVIDENCE_LINE = `${DIVIDER}evidence `

/** As the ledger holds it: the sentence, then the evidence on a line of its own. */
export function formatReason({ sentence, evidence }: ReasonText): string {
  return evidence === null ? sentence : `${sentence}${DIVIDER}${evidence}`
}

export function parseReason(text: string): ReasonText {
  const at = text.indexOf(EVIDENCE_LINE)
  if (at === -1) return { sentence: text, evidence: null }
  return { sentence: text.slice(0, at), evidence: text.slice(at + DIVIDER.length) }
}

/** More about the ending, said in its sentence. */
export function appendToSentence(text: string | undefined, aside: string): string {
  if (text === undefined || text === '') return aside
  const { sentence, evidence } = parseReason(text)
  const [said, end] = sentence.endsWith('.') ? [sentence.slice(0, -1), '.'] : [sentence, '']
  return formatReason({ sentence: `${said}; ${aside}${end}`, evidence })
}

/** Text from branches stays text: one line, no control characters, bounded. */
export function toOneLine(text: string, length: number): string {
  const plain = text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, ' ').trim()
  if (plain.length <= length) return plain
  return `${plain.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}
