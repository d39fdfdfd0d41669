import { describe, expect, it } from 'vitest'
import { type GivenAnswer, givenAnswerSchema, limitAnswers } from '../../src/ideas/answers-file.ts'
import { parseJobFile, serializeJobFile } from '../../src/model/job-file.ts'

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

const FORMAT = { content: 'answers', run: 'actions:1/1', entry: givenAnswerSchema } as const

function handedOver(answers: GivenAnswer[]) {
  const text = serializeJobFile('answers', { run: FORMAT.run, entries: limitAnswers(answers) })
  return parseJobFile({ ok: true, bytes: new TextEncoder().encode(text) }, FORMAT)
}

describe('a file of answers', () => {
  it('is read as it was written', async () => {
    const failed = {
      key: 'b',
      who: 'other',
      minutes: 0.5,
      ok: false,
      reason: 'ended with exit code 3',
    } as const
    const answers = [idea('a', 'diff --git a/ü b/ü\n+✓ \u0001\n'), failed]
    expect(handedOver(answers)).toEqual(answers)
  })

  it('loses only an idea that is too large', async () => {
    const large = idea('b', 'x'.repeat(MIB + 1))
    const read = handedOver([idea('a', 'x'), large, idea('c', 'x')])
    expect(read).toMatchObject([{ ok: true }, { key: 'b', ok: false, minutes: 1 }, { ok: true }])
  })

  it('stays within its limit, whatever the answers add up to', async () => {
    const many = ['a', 'b', 'c', 'd', 'e'].map(key => idea(key, '"'.repeat(MIB / 2 - 100)))
    const read = handedOver(many)
    expect(read).toMatchObject([{ ok: true }, { ok: true }, { ok: true }, { ok: false }, { ok: false }])
  })
})
