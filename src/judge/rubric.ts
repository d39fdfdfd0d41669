import { computeLargestSuiteEvidence } from '../decide/evidence/rank-test.ts'
import { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { findScoreScale, type ScoreScale } from '../spec/spec-facts.ts'

export interface Rubric {
  text: string
  /** The field that must have a score on the scale. */
  primary: string
  /** Logged only, on any scale that the rubric gives them. */
  others: readonly string[]
  scale: ScoreScale
  /** Judges also write what keeps an item from the best score. */
  asksFeedback?: boolean
}

export type JudgeSettings = NonNullable<Spec['metric']['judge']>
type JudgedMetric = { primary: Pick<Spec['metric']['primary'], 'name'>; judge: JudgeSettings }

/** The spec's primary metric names the field that counts, which may be one of the secondary scores. */
export function buildRubric({ primary: { name }, judge }: JudgedMetric): Rubric {
  const { primary, secondary } = judge.scoring
  const others = [...new Set([primary, ...secondary])].filter(field => field !== name)
  return { text: judge.rubric, primary: name, others, scale: requireScale(judge) }
}

/** Null if no singletons are scored. A singleton rubric without a scale uses the main rubric's. */
export function buildSingletonRubric(metric: JudgedMetric): Rubric | null {
  const { singleton_rubric: text, singleton_sample: size, scoring } = metric.judge
  if (text === null || size === 0) return null
  const rubric = buildRubric(metric)
  return { ...rubric, text, others: [], scale: findScoreScale({ rubric: text, scoring }) ?? rubric.scale }
}

function requireScale(judge: JudgeSettings): ScoreScale {
  const scale = findScoreScale(judge)
  if (scale !== null) return scale
  throw new UserError('the rubric names no scale, or several', {
    place: { path: 'metric.judge.scoring.scale' },
    fix: 'name one scale in the rubric, as in "from 1 to 5", or write scale: { lowest: 1, highest: 5 }',
  })
}

// Sample size

interface ReachCase {
  sampleSize: number
  /** A second sample confirms the first. */
  confirms: boolean
  level: number
  screen?: number
}

export interface SampleReach {
  /** Some scores would show a gain. */
  reaches: boolean
  leastSampleSize: number
}

const SCREEN = 20

/**
 * Whether a sample can show a gain at all. A campaign is refused at its start if it cannot.
 */
export function computeSampleReach(reach: ReachCase): SampleReach {
  if (!(reach.level > 0 && reach.level < 1))
    throw new UserError(`the level is ${reach.level}`, { fix: 'give a number above 0 and below 1' })
  let least = 1
  while (!canShow({ ...reach, sampleSize: least })) least += 1
  return { reaches: reach.sampleSize >= least, leastSampleSize: least }
}

/** The screen stops at the pair that reaches it, and one pair at most doubles the evidence. */
function canShow({ sampleSize, confirms, level, screen = SCREEN }: ReachCase): boolean {
  const most = computeLargestSuiteEvidence(sampleSize, 'graded')
  if (!confirms) return most >= 1 / level
  return most >= screen && 2 * screen * most >= 1 / level
}
