import type { Campaign, DueLanding } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import { NOT_PROBED } from './harness-guard.ts'
import type { Oid } from './ids.ts'
import { findUnisolatedWarning } from './reach.ts'
import { neutralizeMentions, neutralizeReferences, parseReason, toOneLine, toSentenceCase } from './text.ts'

export interface LandingMessage {
  spec: string
  spec_sha256: string
  experiment: string
  hypothesis: string
  pull: number | null
  reason: string
  decided: { seq: number; sha256: string }
  /** The evidence comes from one machine: a new build replaced the fresh runner (docs/deciding.md, One machine). */
  single_machine: boolean
  /** What was known of the harness; null in messages of earlier releases. */
  guard: string | null
  /** How the sides could reach each other; null where each had a user of its own. */
  unisolated: string | null
}

export function buildLandingMessage(
  { name }: Pick<Campaign, 'name'>,
  { decided, sha256, spec_sha256, experiment }: DueLanding & { experiment: Experiment },
  pull: number | null,
): LandingMessage {
  const { id, hypothesis, single_machine, guard } = experiment
  const { seq, reason } = decided
  const unisolated = findUnisolatedWarning(decided.warnings)
  const facts = { experiment: id, hypothesis, pull, reason, single_machine, guard, unisolated }
  return { spec: name, spec_sha256, ...facts, decided: { seq, sha256 } }
}

/**
 * Returns the commit that a landing merges: the measured head, or on winnow's own branches the commit with the
 * results on top of it. A person's branch keeps exactly its history.
 */
export function getMergedTip(
  experiment: Experiment | undefined,
  { head, results }: { head: Oid; results: Oid | null },
): Oid {
  return experiment?.owned ? (results ?? head) : head
}

export const AWAITING_MERGE_TEXT =
  '**Merge this pull request** exactly as it is now, before anything else is merged into its base branch: only this state was measured. Until then nothing else of the campaign is measured.'

const SUBJECT_LENGTH = 120

export function renderLandingMessage(message: LandingMessage): string {
  return renderMessage(message, (text, length) => neutralizeMentions(toOneLine(text, length)))
}

/**
 * Commits of earlier releases keep their messages, in which less text was neutralized, and neither the harness nor a
 * lack of isolation was named.
 */
export function renderEarlierLandingMessages(message: LandingMessage): string[] {
  if (message.unisolated === null) return renderOlderMessages(message)
  const silent = { ...message, unisolated: null }
  return [renderLandingMessage(silent), ...renderOlderMessages(silent)]
}

function renderOlderMessages(message: LandingMessage): string[] {
  const unnamed = { ...message, guard: null }
  const named = [message, ...(message.guard === NOT_PROBED ? [unnamed] : [])]
  return [
    ...(message.guard === NOT_PROBED ? [renderLandingMessage(unnamed)] : []),
    ...named.flatMap(each => [
      renderMessage(each, (text, length) => neutralizeReferences(toOneLine(text, length))),
      renderMessage(each, (text, length) => {
        const plain = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
        return plain.length <= length ? plain : `${plain.slice(0, length - 1)}…`
      }),
    ]),
  ]
}

function renderMessage(message: LandingMessage, line: (text: string, length: number) => string): string {
  const pull = message.pull === null ? '' : ` (#${message.pull})`
  const { sentence, evidence } = parseReason(message.reason)
  return [
    `optimize(${message.spec}): ${line(message.hypothesis, SUBJECT_LENGTH)}${pull}`,
    '',
    `Kept: ${line(sentence, 1000)}`,
    ...(evidence === null ? [] : [toOneLine(evidence, 1000)]),
    ...(message.unisolated === null ? [] : [`${toSentenceCase(message.unisolated)}.`]),
    '',
    `Winnow-Experiment: ${message.experiment}`,
    `Winnow-Spec: ${message.spec_sha256}`,
    `Winnow-Ledger: ${message.decided.seq}:${message.decided.sha256}`,
    ...(message.guard === null ? [] : [`Winnow-Harness: ${message.guard}`]),
    ...(message.single_machine ? ['Winnow-Evidence: single-machine'] : []),
    '',
  ].join('\n')
}

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
