import { describe, expect, it } from 'vitest'
import { renderEarlierLandingMessages, renderLandingMessage } from '../../src/model/landing.ts'
import { describeUnisolated } from '../../src/model/reach.ts'
import { appendToSentence, cutText, formatReason, parseReason } from '../../src/model/text.ts'

const TWO = {
  sentence: 'score 5.1 % lower (2.3 to 8.7 %).',
  evidence: 'evidence 1103 (needed to be sure: 1000) 13 pairs',
}

describe('a reason', () => {
  it('is a sentence and an evidence line that can be separated again', () => {
    expect(formatReason(TWO)).toBe(`${TWO.sentence}\n${TWO.evidence}`)
    expect(parseReason(formatReason(TWO))).toEqual(TWO)
  })

  it('is only a sentence when no pairs decided, also with several lines', () => {
    for (const sentence of ['gate tests failed (exit 1)', 'crashed:\nsegmentation fault', '']) {
      expect(formatReason({ sentence, evidence: null })).toBe(sentence)
      expect(parseReason(sentence)).toEqual({ sentence, evidence: null })
    }
  })

  it('can be extended before the evidence line', () => {
    expect(appendToSentence(formatReason(TWO), 'not merged: x')).toBe(
      'score 5.1 % lower (2.3 to 8.7 %); not merged: x.\nevidence 1103 (needed to be sure: 1000) 13 pairs',
    )
    expect(appendToSentence('bytes 2 -> 1', 'not merged: x')).toBe('bytes 2 -> 1; not merged: x')
    expect(appendToSentence(undefined, 'not merged: x')).toBe('not merged: x')
  })
})

describe('the message of a landing', () => {
  const words = {
    spec: 'speed',
    spec_sha256: 'e'.repeat(64),
    experiment: 'exp-001',
    hypothesis: 'cache it',
    pull: 4,
    reason: formatReason(TWO),
    decided: { seq: 9, sha256: 'd'.repeat(64) },
    single_machine: false,
    guard: 'forgeable by: exit at load',
    unisolated: null,
  }

  it('states the verdict before the evidence', () => {
    expect(renderLandingMessage(words).split('\n')).toEqual([
      'optimize(speed): cache it (#4)',
      '',
      `Kept: ${TWO.sentence}`,
      TWO.evidence,
      '',
      'Winnow-Experiment: exp-001',
      `Winnow-Spec: ${words.spec_sha256}`,
      `Winnow-Ledger: 9:${words.decided.sha256}`,
      'Winnow-Harness: forgeable by: exit at load',
      '',
    ])
  })

  it('has a trailer when no second machine has confirmed it', () => {
    const trailer = 'Winnow-Evidence: single-machine'
    expect(renderLandingMessage({ ...words, single_machine: true }).split('\n')).toContain(trailer)
    expect(renderLandingMessage(words)).not.toContain(trailer)
  })

  it('says in which ways the sides could reach each other, where they had no users of their own', () => {
    const unisolated = describeUnisolated({ flags: ['unisolated'], reach: ['files', 'network', 'memory'] })
    const message = { ...words, unisolated }
    expect(renderLandingMessage(message).split('\n')).toContain(
      "Not isolated: both sides ran as one user, so one could reach the other through its files, the network and the machine's memory, which has no limit.",
    )
    // Commits of earlier releases say nothing of it.
    expect(renderEarlierLandingMessages(message)).toContain(renderLandingMessage(words))
    expect(describeUnisolated({ flags: [] })).toBeNull()
  })
})

it('cutText leaves no half of a character', () => {
  expect(cutText('ab😀', 3)).toBe('ab')
  expect(cutText('ab😀', 4)).toBe('ab😀')
})
