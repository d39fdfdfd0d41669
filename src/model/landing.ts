/** What the message of a commit that lands an experiment says. */
export interface LandingWords {
  spec: string
  spec_sha256: string
  experiment: string
  hypothesis: string
  pull: number | null
  reason: string
  decided: { seq: number; sha256: string }
}

const SUBJECT_LENGTH = 120

export function landingMessage(words: LandingWords): string {
  const pull = words.pull === null ? '' : ` (#${words.pull})`
  return [
    `optimize(${words.spec}): ${oneLine(words.hypothesis, SUBJECT_LENGTH)}${pull}`,
    '',
    oneLine(words.reason, 1000),
    '',
    `Winnow-Experiment: ${words.experiment}`,
    `Winnow-Spec: ${words.spec_sha256}`,
    `Winnow-Ledger: ${words.decided.seq}:${words.decided.sha256}`,
    '',
  ].join('\n')
}

/** Text from branches stays text: one line, no control characters, bounded. */
export function oneLine(text: string, length: number): string {
  const plain = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  return plain.length <= length ? plain : `${plain.slice(0, length - 1)}…`
}

export function secondsOf(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}
