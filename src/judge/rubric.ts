import { computeLargestSuiteEvidence } from '../decide/evidence/rank-test.ts'
import { UserError } from '../errors.ts'
import type { Spec } from '../spec/schema.ts'
import { findScoreScale, type ScoreScale } from '../spec/spec-facts.ts'

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
type JudgedMetric = { primary: Pick<Spec['metric']['primary'], 'name'>; judge: JudgeSettings }

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

interface ReachCase {
  sampleSize: number
  /** Another sample confirms what the first one screened. */
  confirms: boolean
  level: number
  screen?: number
}

export interface SampleReach {
  /** There are scores that would show a gain. */
  reaches: boolean
  /** The smallest sample of which that is true. */
  leastSampleSize: number
}

const SCREEN = 20

/** Whether a sample can show anything at all: refused before anything is spent where it cannot (decision 3.1). */
export function computeSampleReach(reach: ReachCase): SampleReach {
  if (!(reach.level > 0 && reach.level < 1))
    throw new UserError(`the level is ${reach.level}`, { fix: 'give a number above 0 and below 1' })
  let least = 1
  while (!canShow({ ...reach, sampleSize: least })) least += 1
  return { reaches: reach.sampleSize >= least, leastSampleSize: least }
}

/** The screen ends its sample with the pair that reaches it, and no pair more than doubles what there was. */
function canShow({ sampleSize, confirms, level, screen = SCREEN }: ReachCase): boolean {
  const most = computeLargestSuiteEvidence(sampleSize, 'graded')
  if (!confirms) return most >= 1 / level
  return most >= screen && 2 * screen * most >= 1 / level
}
