import { isBenchmarkFormat } from '../benchmark-formats.ts'
import { BUILT_IN_METRICS } from '../built-in-metrics.ts'
import { findScoreScale } from '../judge-scale.ts'
import { getGivenValue } from '../prepare.ts'
import { type SpecFinding, describeFoundValue } from '../problem.ts'
import { createSpecFinding, findRepeatedIndexes, type RuleContext } from './rule.ts'

/** Units of benchmark tools of which more is better. */
const HIGHER_IS_BETTER_UNIT = /(?:^|[._])(?:hz|ops_per_second|mb_per_s)$/

/** Which way is better is natural for what winnow and benchmark tools measure, and a guess for anything else. */
export function requireDirection({ spec, raw, rules }: RuleContext): SpecFinding[] {
  const { name } = spec.metric.primary
  if (rules === 'ce' || getGivenValue(raw, ['metric', 'primary', 'direction']) !== undefined) return []
  if (getGivenValue(raw, ['metric', 'primary', 'name']) === undefined || BUILT_IN_METRICS.has(name)) return []
  if (isBenchmarkFormat(spec.measurement.output) && !HIGHER_IS_BETTER_UNIT.test(name)) return []
  return [
    createSpecFinding(
      ['metric', 'primary', 'direction'],
      'nothing',
      'minimize or maximize',
      `write direction: minimize if less ${name} is better, or direction: maximize if more is`,
    ),
  ]
}

export function requireJudgeSection({ spec }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'judge' || spec.metric.judge !== null) return []
  return [
    createSpecFinding(
      ['metric', 'judge'],
      'nothing',
      'rubric and scoring',
      'add metric.judge: { rubric, scoring: { primary } }',
    ),
  ]
}

export function requireJudgedPrimary({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  if (primary.type !== 'judge' || judge === null) return []
  const fields = [judge.scoring.primary, ...judge.scoring.secondary]
  if (fields.includes(primary.name)) return []
  const fix = `write name: ${judge.scoring.primary}, or add ${primary.name} to metric.judge.scoring`
  return [
    createSpecFinding(
      ['metric', 'primary', 'name'],
      JSON.stringify(primary.name),
      'a field of metric.judge.scoring',
      fix,
    ),
  ]
}

/** A score outside its scale is missing, so that there has to be one. */
export function requireScoreScale({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  if (primary.type !== 'judge' || judge === null || findScoreScale(judge) !== null) return []
  const { scale } = judge.scoring
  const found = scale === null ? 'no scale, or several, in the rubric' : `${scale.lowest} to ${scale.highest}`
  const fix = 'name one scale in the rubric, as in "from 1 to 5", or write scale: { lowest: 1, highest: 5 }'
  return [
    createSpecFinding(['metric', 'judge', 'scoring', 'scale'], found, 'a lowest and a highest score', fix),
  ]
}

/** Two words for one thing: of a judged metric its own section says what counts and how much is compared. */
export function refuseDuplicateJudgeKeys({ spec, raw }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'judge') return []
  const instead = {
    min_effect: 'metric.judge.minimum_improvement',
    pairs_per_job: 'metric.judge.sample_size',
    scale: 'nothing: differences of scores are compared as they are',
  }
  return Object.entries(instead).flatMap(([key, meant]) => {
    const value = getGivenValue(raw, ['evidence', key])
    if (value === undefined) return []
    const fix = 'remove it'
    return [
      createSpecFinding(
        ['evidence', key],
        describeFoundValue(value),
        `${meant} beside a judged primary`,
        fix,
      ),
    ]
  })
}

/** What can never be reached says that nothing was better. */
export function requireReachableImprovement({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  const scale = judge === null ? null : findScoreScale(judge)
  if (primary.type !== 'judge' || judge === null || scale === null) return []
  const [low, high] = scale
  const { minimum_improvement: least } = judge
  const path = ['metric', 'judge', 'minimum_improvement']
  if (least >= high - low)
    return [
      createSpecFinding(path, String(least), `less than the scale is wide (${low} to ${high})`, 'lower it'),
    ]
  // Means are compared there, of which any may be the greater one.
  if (least > 0 || spec.measurement.stability !== null) return []
  return [
    createSpecFinding(
      path,
      '0',
      'more than 0, since pairs can show no less',
      'write the smallest gain worth having',
    ),
  ]
}

export function requireSingletonRubric({ spec }: RuleContext): SpecFinding[] {
  const { judge } = spec.metric
  if (judge === null || judge.singleton_sample === 0 || judge.singleton_rubric !== null) return []
  return [
    createSpecFinding(
      ['metric', 'judge', 'singleton_sample'],
      String(judge.singleton_sample),
      '0 without a singleton_rubric',
      'add metric.judge.singleton_rubric',
    ),
  ]
}

/** Money is capped unless a person says otherwise on the command line, where no file can say it for them. */
export function requireJudgeCostCap({ spec, allowUncapped }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  if (primary.type !== 'judge' || judge?.max_total_cost_usd !== null || allowUncapped) return []
  return [
    createSpecFinding(
      ['metric', 'judge', 'max_total_cost_usd'],
      'no cap',
      'an amount in USD',
      'write a cap, such as 5: judging without one is not built yet',
    ),
  ]
}

export function requireLossSuite({ spec }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'loss' || spec.measurement.suite !== null) return []
  return [
    createSpecFinding(
      ['measurement', 'suite'],
      'nothing',
      'a suite, over which a loss is taken',
      'add measurement.suite: { tasks }',
    ),
  ]
}

export function requireUniqueObjectives({ spec }: RuleContext): SpecFinding[] {
  const names = spec.metric.objectives.map(({ name }) => name)
  return findRepeatedIndexes(names).map(index =>
    createSpecFinding(
      ['metric', 'objectives', index, 'name'],
      JSON.stringify(names[index]),
      'each objective once',
      'remove or rename one of the two',
    ),
  )
}

/** What the supervisor measures must not also be something the code under test can print. */
export function refusePrintedBuiltIns({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  const parse = spec.measurement.score?.parse
  const printed: [(string | number)[], string | null | undefined][] = [
    [['metric', 'primary', 'name'], primary.type === 'hard' ? null : primary.name],
    [['metric', 'judge', 'scoring', 'primary'], judge?.scoring.primary],
    [['measurement', 'score', 'parse', 'score_field'], parse?.score_field],
    [['measurement', 'score', 'parse', 'metrics_field'], parse?.metrics_field],
  ]
  for (const [index, name] of (judge?.scoring.secondary ?? []).entries()) {
    printed.push([['metric', 'judge', 'scoring', 'secondary', index], name])
  }
  return printed.flatMap(([path, name]) => {
    if (typeof name !== 'string' || !BUILT_IN_METRICS.has(name)) return []
    return [createSpecFinding(path, name, 'a name winnow does not measure itself', 'choose another name')]
  })
}

/** One metric cannot be both timed by winnow and read from a separate scorer. */
export function refuseTimedScoreField({ spec }: RuleContext): SpecFinding[] {
  const { primary } = spec.metric
  const field = spec.measurement.score?.parse.score_field ?? null
  if (field === null || !BUILT_IN_METRICS.has(primary.name)) return []
  const found = `${field}, while the primary is ${primary.name}`
  const fix = 'name the scored metric in metric.primary.name, or remove score_field'
  return [
    createSpecFinding(
      ['measurement', 'score', 'parse', 'score_field'],
      found,
      'a primary that is not built in',
      fix,
    ),
  ]
}
