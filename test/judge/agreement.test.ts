import { describe, expect, it } from 'vitest'
import { computeAgreement, computeLabelAgreement, parseLabels } from '../../src/judge/labels.ts'
import type { ScoreRecord } from '../../src/model/event-schemas.ts'

describe('agreement', () => {
  it("is Krippendorff's alpha: his example of four observers", () => {
    const observers: (number | null)[][] = [
      [1, 2, 3, 3, 2, 1, 4, 1, 2, null, null, null],
      [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, null, 3],
      [null, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, null],
      [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, null],
    ]
    const units = Array.from({ length: 12 }, (_, unit) => observers.map(row => row[unit] ?? null))
    expect(computeAgreement(units)).toBeCloseTo(0.849, 3)
  })

  it('is 1 where all are alike, 0 by chance and less where they contradict', () => {
    expect(
      computeAgreement([
        [1, 1],
        [3, 3],
        [5, 5],
      ]),
    ).toBe(1)
    expect(
      computeAgreement([
        [1, 5],
        [5, 1],
        [1, 5],
        [5, 1],
      ]),
    ).toBeLessThan(-0.5)
  })

  it('is null if all ratings are equal or no unit is rated twice', () => {
    expect(
      computeAgreement([
        [4, 4],
        [4, 4],
      ]),
    ).toBeNull()
    expect(computeAgreement([[4, null], [3]])).toBeNull()
    expect(computeAgreement([])).toBeNull()
    const generous = [
      [1, 4],
      [2, 4],
      [3, 4],
      [4, 4],
      [5, 4],
    ]
    expect(computeAgreement(generous)).toBeLessThan(0)
  })
})

const FILE = { file: 'evals/labels.json', scale: [1, 5] } as const
const labelled = (scores: readonly number[]) =>
  scores.map((score, index) => ({ content: `t${index}`, score }))

describe('labels', () => {
  it('are a JSON array, or one a line', () => {
    const labels = [{ id: 'a', content: 'x', score: 2 }, ...labelled([1, 2, 3, 5])]
    const expected = labels.map((label, index) => ({ id: String(index + 1), ...label }))
    expect(parseLabels(JSON.stringify(labels), FILE)).toEqual(expected)
    expect(parseLabels(`${labels.map(label => JSON.stringify(label)).join('\n\n')}\n`, FILE)).toHaveLength(5)
  })

  it.each<[string, string, Record<string, unknown>]>([
    [
      '{"content": "a", "score": 4}\nnot json',
      'not a label of an item',
      { file: 'evals/labels.json', line: 2 },
    ],
    ['[{"content": "a", "score": "4"}]', 'not a label of an item', { path: '[0]' }],
    ['{"content": "a", "score": 4, "scores": 4}', 'not a label of an item', { line: 1 }],
    ['\n{"content": "a", "score": 6}', 'the score 6 is not on the scale from 1 to 5', { line: 2 }],
    [JSON.stringify(labelled([1, 2, 3, 4])), 'too few labels', {}],
    [JSON.stringify(labelled([4, 4, 4, 4, 4, 4])), 'too few labels', {}],
    ['', 'too few labels', {}],
    [JSON.stringify(labelled([1, 2, 3, 4, 5]).map(label => ({ id: 'a', ...label }))), 'have the id "a"', {}],
  ])('are refused with their place: case %#', (text, message, place) => {
    const error = { message: expect.stringContaining(message), place: expect.objectContaining(place) }
    expect(() => parseLabels(text, FILE)).toThrow(expect.objectContaining(error))
  })
})

describe('agreement with labels', () => {
  const labels = labelled([1, 2, 3, 4, 5, 5]).map((label, index) => ({ id: String(index), ...label }))
  function agreement(score: (human: number, index: number) => number | null): number | null {
    const records = labels.flatMap(({ id, score: human }, index): ScoreRecord[] => {
      const given = score(human, index)
      const scores = given === null ? null : { quality: given }
      return [{ judge: 0, item: id, side: 'label', time: 1, scores }]
    })
    return computeLabelAgreement({ labels, records, judges: 1, primary: 'quality', scale: [1, 5] })
  }

  it('is high for a judge who scores like people, low for one who does not', () => {
    expect(agreement(human => human)).toBe(1)
    expect(agreement(human => Math.min(5, human + 0.5))).toBeGreaterThan(0.8)
    expect(agreement(() => 5)).toBeLessThan(0.2)
    expect(agreement(human => 6 - human)).toBeLessThan(-0.5)
  })

  it('counts a missing score as far off as the scale allows', () => {
    const silent = agreement((human, index) => (index === 4 ? null : human))
    expect(silent).toBeLessThan(0.6)
    expect(agreement(() => null)).toBeLessThan(0)
  })
})
