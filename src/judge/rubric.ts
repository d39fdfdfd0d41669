import { UserError } from '../errors.ts'
import { type ScoreScale, findScoreScale } from '../spec/judge-scale.ts'
import type { Spec } from '../spec/schema.ts'

/** By what items are scored, and which numbers that gives. */
export interface Rubric {
  text: string
  /** What an item has to have a score of, on the scale. */
  primary: string
  /** Logged, on whatever scale the rubric has for them. */
  others: readonly string[]
  scale: ScoreScale
}

export type JudgeSettings = NonNullable<Spec['metric']['judge']>
/** As much of a spec as judging reads. */
export type JudgedMetric = { primary: Pick<Spec['metric']['primary'], 'name'>; judge: JudgeSettings }

/** The primary metric is the field that counts, whichever of those that are scored it names. */
export function buildRubric({ primary: { name }, judge }: JudgedMetric): Rubric {
  const { primary, secondary } = judge.scoring
  const others = [...new Set([primary, ...secondary])].filter(field => field !== name)
  return { text: judge.rubric, primary: name, others, scale: requireScale(judge) }
}

/** Null: no singletons are scored. One that names no scale of its own has that of the rubric. */
export function buildSingletonRubric(metric: JudgedMetric): Rubric | null {
  const { singleton_rubric: text, singleton_sample: size, scoring } = metric.judge
  if (text === null || size === 0) return null
  const rubric = buildRubric(metric)
  return { ...rubric, text, scale: findScoreScale({ rubric: text, scoring }) ?? rubric.scale }
}

function requireScale(judge: JudgeSettings): ScoreScale {
  const scale = findScoreScale(judge)
  if (scale !== null) return scale
  throw new UserError('the rubric names no scale, or several', {
    place: { path: 'metric.judge.scoring.scale' },
    fix: 'name one scale in the rubric, as in "from 1 to 5", or write scale: { lowest: 1, highest: 5 }',
  })
}
