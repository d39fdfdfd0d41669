/** Why something ended, as people read it: one sentence that stands alone, and what it rests on, where pairs decided. */
export interface ReasonText {
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
