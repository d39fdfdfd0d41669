import { describe, expect, it } from 'vitest'
import { findScoreScale, type ScoreScale } from '../../src/spec/spec-facts.ts'
import { buildRubric, buildSingletonRubric } from '../../src/judge/rubric.ts'
import { fixture, parsed } from './problems-of.ts'

function of(rubric: string, given: ScoreScale | null = null) {
  const scale = given && { lowest: given[0], highest: given[1] }
  return findScoreScale({ rubric, scoring: { scale } })
}

describe('the scale of scores', () => {
  it.each<[string, ScoreScale | null]>([
    ['Score 1 to 5 how well it reads.', [1, 5]],
    ['Rate it 1-10, with 10 as the best.', [1, 10]],
    ['from 0 – 100', [0, 100]],
    ['0..1', [0, 1]],
    ['between 0.5 and 1: a share (0.0-1.0)', [0, 1]],
    ['-2 to 2, and once more: -2 to 2', [-2, 2]],
    ['Score 1 to 5. Good answers have 200-300 words.', [1, 5]],
    ['Rate this cluster 1-5:\n- 3: Related but covers 2-3 sub-topics that could be split\n- 2: Weak', [1, 5]],
    ['Score style 1 to 5. Score length 0 to 10.', null],
    ['Score style 1 to 5. Score length 6 to 10.', null],
    ['Good answers have 200-300 words and 1-5 pictures.', null],
    ['5 is best.', null],
    ['5-1', null],
    ['since 2024-01-05 of version 1.2.3-4', null],
  ])('is the one range that the rubric names: %s', (rubric, scale) => {
    expect(of(rubric)).toEqual(scale)
  })

  it('is what the spec says, whatever the rubric names', () => {
    expect(of('1 to 5', [0, 1])).toEqual([0, 1])
    expect(of('1 to 5', [5, 1])).toBeNull()
    expect(of('1 to 5', [1, Infinity])).toBeNull()
  })
})

describe('the rubric of a spec', () => {
  const metricOf = (name: string, changes: object = {}) => {
    const { primary, judge } = parsed(fixture(name)).spec.metric
    if (judge === null) throw new Error(`${name} has no judge`)
    return { primary: { ...primary, ...changes }, judge }
  }

  it('optimises the field that the primary names', () => {
    expect(buildRubric(metricOf('ce-judge.yaml'))).toMatchObject({
      primary: 'mean_score',
      others: ['coverage'],
      scale: [1, 5],
    })
    expect(buildRubric(metricOf('ce-judge.yaml', { name: 'coverage' }))).toMatchObject({
      primary: 'coverage',
      others: ['mean_score'],
    })
  })

  it('has another text for singletons, where any are scored', () => {
    expect(buildSingletonRubric(metricOf('ce-clustering.yaml'))).toMatchObject({
      text: 'Score whether this item belongs to one of the clusters.',
      scale: [1, 5],
    })
    expect(buildSingletonRubric(metricOf('ce-judge.yaml'))).toBeNull()
  })

  it('is none without a scale', () => {
    const { primary, judge } = metricOf('ce-judge.yaml')
    expect(() => buildRubric({ primary, judge: { ...judge, rubric: 'How good is it?' } })).toThrow(
      'names no scale',
    )
  })
})
