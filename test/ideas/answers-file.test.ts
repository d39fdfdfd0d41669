import { describe, expect, it } from 'vitest'
import {
  type Answers,
  type GivenAnswer,
  readAnswersFile,
  renderAnswersFile,
} from '../../src/ideas/answers-file.ts'

const MIB = 1024 * 1024

function idea(key: string, patch: string): GivenAnswer {
  return {
    key,
    who: 'thinker',
    minutes: 1,
    ok: true,
    base: 'a'.repeat(40),
    hypothesis: 'h',
    category: 'general',
    priority: 'medium',
    required_deps: [],
    family: null,
    learnings: null,
    patch,
  }
}

const given = (answers: GivenAnswer[]): Answers => ({
  winnow: 1,
  campaign: 'size',
  started: 'b'.repeat(64),
  answers,
})

function handedOver(answers: GivenAnswer[]) {
  return readAnswersFile({ ok: true, bytes: new TextEncoder().encode(renderAnswersFile(given(answers))) })
}

describe('a file of answers', () => {
  it('is read back as it was written', async () => {
    const failed = {
      key: 'b',
      who: 'other',
      minutes: 0.5,
      ok: false,
      reason: 'ended with exit code 3',
    } as const
    const answers = [idea('a', 'diff --git a/ü b/ü\n+✓ \u0001\n'), failed]
    expect(handedOver(answers)).toEqual(given(answers))
  })

  it('loses an idea that is too large for it, and no other', async () => {
    const large = idea('b', 'x'.repeat(MIB + 1))
    const read = handedOver([idea('a', 'x'), large, idea('c', 'x')])
    expect(read).toMatchObject({ answers: [{ ok: true }, { key: 'b', ok: false, minutes: 1 }, { ok: true }] })
  })

  it('stays as small as it may be, whatever all of them come to', async () => {
    const many = ['a', 'b', 'c', 'd', 'e'].map(key => idea(key, '"'.repeat(MIB / 2 - 100)))
    const read = handedOver(many)
    expect(read).toMatchObject({
      answers: [{ ok: true }, { ok: true }, { ok: true }, { ok: false }, { ok: false }],
    })
  })
})
