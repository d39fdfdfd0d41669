import type { Campaign, DueLanding } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import type { Oid } from './ids.ts'
import { neutralizeMentions, neutralizeReferences, parseReason, toOneLine } from './text.ts'

/** What the message of a commit that lands an experiment says. */
export interface LandingMessage {
  spec: string
  spec_sha256: string
  experiment: string
  hypothesis: string
  pull: number | null
  reason: string
  decided: { seq: number; sha256: string }
  /** Its evidence is of one machine: a new build stood for a fresh runner (decision.md 3.3). */
  single_machine: boolean
}

/** What a verdict that waits for its merge has said of it. */
export function buildLandingMessage(
  { name, host }: Pick<Campaign, 'name' | 'host'>,
  { decided, sha256, spec_sha256, experiment }: DueLanding & { experiment: Experiment },
  pull: number | null,
): LandingMessage {
  const { id, hypothesis, single_machine } = experiment
  const proof = { seq: decided.seq, sha256 }
  const { reason } = decided
  const number = getLinkedPull(host, pull)
  return {
    spec: name,
    spec_sha256,
    experiment: id,
    hypothesis,
    pull: number,
    reason,
    decided: proof,
    single_machine,
  }
}

/**
 * What a landing merges: the measured head, with its results on top only on a branch of winnow's own. The history of a
 * person's branch stays as they wrote it.
 */
export function getMergedTip(
  experiment: Experiment | undefined,
  { head, results }: { head: Oid; results: Oid | null },
): Oid {
  return experiment?.owned ? (results ?? head) : head
}

/** A number that a forge links. Pull requests that are kept beside the branches have numbers of their own, which are none. */
export function getLinkedPull(host: Campaign['host'], pull: number | null): number | null {
  return host === 'local' ? null : pull
}

/** Said where it waits for somebody else. */
export const AWAITING_MERGE_TEXT =
  '**Merge this pull request** exactly as it is now, before anything else is merged into its base branch: only this state was measured. Until then nothing else of the campaign is measured.'

const SUBJECT_LENGTH = 120

type LineFormat = (text: string, length: number) => string

export function renderLandingMessage(words: LandingMessage): string {
  return renderMessage(words, (text, length) => neutralizeMentions(toOneLine(text, length)))
}

/** As it was before some of what a forge reads was taken out of it: a commit stays what it was made as. */
export function renderEarlierLandingMessages(words: LandingMessage): string[] {
  return [
    renderMessage(words, (text, length) => neutralizeReferences(toOneLine(text, length))),
    renderMessage(words, (text, length) => {
      const plain = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
      return plain.length <= length ? plain : `${plain.slice(0, length - 1)}…`
    }),
  ]
}

function renderMessage(words: LandingMessage, line: LineFormat): string {
  const pull = words.pull === null ? '' : ` (#${words.pull})`
  const { sentence, evidence } = parseReason(words.reason)
  return [
    `optimize(${words.spec}): ${line(words.hypothesis, SUBJECT_LENGTH)}${pull}`,
    '',
    `Kept: ${line(sentence, 1000)}`,
    ...(evidence === null ? [] : [toOneLine(evidence, 1000)]),
    '',
    `Winnow-Experiment: ${words.experiment}`,
    `Winnow-Spec: ${words.spec_sha256}`,
    `Winnow-Ledger: ${words.decided.seq}:${words.decided.sha256}`,
    ...(words.single_machine ? ['Winnow-Evidence: single-machine'] : []),
    '',
  ].join('\n')
}

/** What a message says of winnow's own. */
export function parseTrailers(message: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const line of message.split('\n')) {
    const match = /^(Winnow-[A-Za-z]+): (.*)$/.exec(line)
    if (match?.[1] !== undefined && match[2] !== undefined) found.set(match[1], match[2])
  }
  return found
}

export function toSeconds(at: string): number {
  return Math.floor(Date.parse(at) / 1000)
}
