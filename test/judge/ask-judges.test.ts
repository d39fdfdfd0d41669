import { describe, expect, it } from 'vitest'
import { askJudges, type JudgesRequest } from '../../src/judge/ask-judges.ts'
import type { Batch } from '../../src/judge/batch.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'
import type { ModelAnswer, ModelQuestion } from '../../src/ports.ts'
import { type ShownItem, shownIn } from '../servers/reading-judge.ts'
import { batches, RUBRIC } from './some-items.ts'

type Told = (items: ShownItem[], before: number) => ModelAnswer

/** A judge that answers what the test says of the items it is shown. */
function told(by: Told) {
  const questions: ModelQuestion[] = []
  const written: ScoreRecord[] = []
  async function ask(all: Batch[], known: ScoreRecord[] = [], more: Partial<JudgesRequest> = {}) {
    return await askJudges({
      rubric: RUBRIC,
      batches: all,
      known,
      models: {
        ask: async question => by(shownIn(question), questions.push(question) - 1),
        usage: () => ({ requests: 0, unanswered: 0, tokens: 0, usd: 0 }),
      },
      names: ['m'],
      record: records => void written.push(...records),
      signal: new AbortController().signal,
      ...more,
    })
  }
  return { questions, written, ask }
}

const quality = (content: string) => (content.startsWith('new') ? 4 : 2)
function scoring(items: readonly ShownItem[], complete = true): ModelAnswer {
  const scores = items.map(({ key, content }) => ({ item: key, quality: quality(content), length: 9 }))
  return { is: 'answered', text: JSON.stringify({ scores }), complete }
}

describe('judges', () => {
  it('are asked one batch after the other, and each answer is recorded before the next', async () => {
    const all = batches(7, { batchSize: 4, judges: 2 })
    let known = 0
    const { questions, written, ask } = told(items => {
      expect(written).toHaveLength(known)
      known += items.length
      return scoring(items)
    })
    const { records, cut } = await ask(all)
    expect(cut).toBeNull()
    expect(questions).toHaveLength(8)
    expect(records).toEqual(written)
    expect(records).toHaveLength(28)
    for (const { side, scores, time } of records)
      expect([scores?.['quality'], time]).toEqual([side === 'candidate' ? 4 : 2, 1])
  })

  it('write what is wrong only where they are asked for it, in whatever field, and only about what they score', async () => {
    const answer = (items: readonly ShownItem[]): ModelAnswer => {
      const texts = [{ feedback: 'too\nlong' }, { reason: 'x'.repeat(900) }, { feedback: ' ' }, {}]
      const scores = items.map(({ key }, at) => ({ item: key, quality: at === 3 ? 'high' : 3, ...texts[at] }))
      return { is: 'answered', text: JSON.stringify({ scores }), complete: true }
    }
    const [batch] = batches(4, { batchSize: 4 })
    const all = batch === undefined ? [] : [batch]
    const asked = told(answer)
    const { records } = await asked.ask(all, [], { rubric: { ...RUBRIC, asksFeedback: true } })
    const read = records
      .slice(0, 4)
      .map(({ scores, feedback }) => [scores?.['quality'], feedback?.slice(0, 8)])
    expect(read).toEqual([
      [3, 'too long'],
      [3, 'xxxxxxxx'],
      [3, undefined],
      [undefined, undefined],
    ])
    expect(records[1]?.feedback).toHaveLength(400)
    expect(asked.questions[0]?.system).toContain('"feedback": "<text>"')
    const plain = told(answer)
    for (const { feedback } of (await plain.ask(all)).records) expect(feedback).toBeUndefined()
    expect(plain.questions[0]?.system).not.toContain('feedback')
  })

  it('are asked once more for each item without a score, one by one', async () => {
    const { questions, ask } = told((items, before) => scoring(before === 0 ? items.slice(2) : items))
    const { records } = await ask(batches(4, { batchSize: 4 }).slice(0, 1))
    expect(questions.map(question => shownIn(question).length)).toEqual([4, 1, 1])
    expect(records.map(({ time, scores }) => [time, scores !== null])).toEqual([
      [1, false],
      [1, false],
      [1, true],
      [1, true],
      [2, true],
      [2, true],
    ])
  })

  it('give no score in an incomplete answer', async () => {
    const { ask } = told((items, before) => scoring(items, before > 0))
    const { records } = await ask(batches(2, { batchSize: 2 }).slice(0, 1))
    expect(records.map(({ time, scores }) => [time, scores !== null])).toEqual([
      [1, false],
      [1, false],
      [2, true],
      [2, true],
    ])
  })

  it('are not asked a third time: an item that spoils every answer has no score, the others have theirs', async () => {
    const spoils = (items: readonly ShownItem[]) => items.some(({ content }) => content === 'new q1')
    const { questions, ask } = told(items =>
      spoils(items) ? { is: 'answered', text: 'I will not.', complete: true } : scoring(items),
    )
    const { records } = await ask(batches(3, { batchSize: 3 }))
    const standing = new Map(records.map(record => [`${record.side} ${record.item}`, record]))
    expect(standing.get('candidate q1')).toMatchObject({ time: 2, scores: null })
    expect([...standing.values()].filter(({ scores }) => scores === null)).toHaveLength(1)
    expect(questions).toHaveLength(2 + 3)
  })

  it.each<ModelAnswer>([
    { is: 'over-budget', reason: 'spent' },
    { is: 'refused', reason: 'no key' },
    { is: 'unreachable', reason: 'nobody there' },
  ])('are not asked again after a request failed: $is', async none => {
    const { questions, ask } = told((items, before) => (before === 1 ? none : scoring(items)))
    const { records, cut } = await ask(batches(6, { batchSize: 2 }))
    expect(cut).toEqual(none)
    expect([questions.length, records.length]).toEqual([2, 2])
  })
})

describe('judges that reject a question', () => {
  const notTaken: ModelAnswer = { is: 'not-taken', reason: 'this is filtered' }
  const isEmpty = ([only]: readonly ShownItem[]) => only?.content === 'This item is empty.'
  const poisoned = (items: readonly ShownItem[]) => items.some(({ content }) => content === 'new q1')

  it('score the other items; the rejected item has no score and does not stop judging', async () => {
    for (const batchSize of [1, 3]) {
      const { ask } = told(items => (poisoned(items) ? notTaken : scoring(items)))
      const { records, cut } = await ask(batches(3, { batchSize }))
      expect(cut).toBeNull()
      const standing = new Map(records.map(record => [`${record.side} ${record.item}`, record]))
      expect(standing.get('candidate q1')).toMatchObject({ time: 2, scores: null })
      expect([...standing.values()].filter(({ scores }) => scores === null)).toHaveLength(1)
    }
  })

  it('are asked the same question without its items, with the same answer limit', async () => {
    const { questions, ask } = told(items => (poisoned(items) ? notTaken : scoring(items)))
    await ask(batches(3, { batchSize: 3 }))
    const at = questions.findIndex(question => isEmpty(shownIn(question)))
    const [before, without] = [questions[at - 1], questions[at]]
    expect(without).toMatchObject({ system: before?.system, maxTokens: before?.maxTokens })
    expect(shownIn(without ?? { system: '', user: '' })).toHaveLength(1)
  })

  it('treat both sides alike', async () => {
    const never = (side: string) => (items: readonly ShownItem[]) =>
      items.some(({ content }) => content === `${side} q1`)
    for (const [side, called] of [
      ['old', 'base'],
      ['new', 'candidate'],
    ] as const) {
      const { ask } = told(items => (never(side)(items) ? notTaken : scoring(items)))
      const { records } = await ask(batches(3, { batchSize: 3 }))
      const lost = records.filter(({ time, scores }) => time === 2 && scores === null)
      expect(lost.map(record => record.side)).toEqual([called])
    }
  })

  it('stop judging if they reject the question without items too', async () => {
    const { questions, written, ask } = told((items, before) => (before === 0 ? scoring(items) : notTaken))
    const { cut } = await ask(batches(6, { batchSize: 2 }))
    expect(cut).toEqual({ is: 'refused', reason: 'this is filtered' })
    expect([questions.length, written.length]).toEqual([3, 2])
  })

  it.each<ModelAnswer>([
    { is: 'over-budget', reason: 'spent' },
    { is: 'unreachable', reason: 'nobody there' },
  ])('are not asked again if the question without items fails: $is', async none => {
    const { written, ask } = told(items => (isEmpty(items) ? none : notTaken))
    expect((await ask(batches(2))).cut).toEqual(none)
    expect(written).toEqual([])
  })
})

describe('judges after a restart', () => {
  it('are not asked again for known scores, wherever the last start ended', async () => {
    const all = batches(5, { batchSize: 2, judges: 2 })
    const whole = told((items, before) => scoring(before % 3 === 0 ? items.slice(1) : items))
    const { records: expected } = await whole.ask(all)
    for (let cut = 0; cut < whole.questions.length; cut++) {
      const first = told((items, before) =>
        before === cut
          ? { is: 'unreachable', reason: 'killed' }
          : scoring(before % 3 === 0 ? items.slice(1) : items),
      )
      await first.ask(all)
      const again = told((items, before) => scoring((before + cut) % 3 === 0 ? items.slice(1) : items))
      const { records } = await again.ask(all, first.written)
      expect(records).toEqual(expected)
      expect(again.questions.map(({ user }) => user)).toEqual(
        whole.questions.slice(cut).map(({ user }) => user),
      )
    }
  })

  it('never score an item twice', async () => {
    const all = batches(4)
    const { records } = await told(items => scoring(items)).ask(all)
    const again = told(() => {
      throw new Error('asked again')
    })
    expect((await again.ask(all, records)).records).toEqual(records)
  })

  it('are not asked after an abort', async () => {
    const stop = new AbortController()
    const { ask, written } = told(items => scoring(items))
    const models = {
      ask: async (question: ModelQuestion, signal: AbortSignal) => {
        if (written.length > 0) stop.abort(new Error('over'))
        signal.throwIfAborted()
        return scoring(shownIn(question))
      },
      usage: () => ({ requests: 0, unanswered: 0, tokens: 0, usd: 0 }),
    }
    await expect(ask(batches(6), [], { models, signal: stop.signal })).rejects.toThrow('over')
    expect(written).toHaveLength(5)
  })
})
