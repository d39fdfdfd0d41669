import { describeFoundValue, type SpecFinding, type SpecPath } from './errors.ts'
import {
  getGivenValue,
  reportFinding,
  reportRepeatedNames,
  type RuleContext,
  type SpecRule,
} from './rule-context.ts'
import { BUILT_IN_METRICS, isBenchmarkFormat, isPercent } from './schema-values.ts'
import { findScoreScale, listTimedDecisiveMetrics, parseHoldoutSource } from './spec-facts.ts'
import { SUITE_RULES } from './validate-suite.ts'

export const MEASUREMENT_RULES: readonly SpecRule[] = [
  requireLegalMeasurement,
  refuseTimedOnce,
  refuseScoredBenchmarks,
  refuseScoreBesideJudge,
  requireDirection,
  requireJudgeSection,
  requireJudgedPrimary,
  requireScoreScale,
  refuseDuplicateJudgeKeys,
  requireReachableImprovement,
  requireSingletonRubric,
  refuseDecidingSingletons,
  requireUniqueObjectives,
  refusePrintedBuiltIns,
  refuseTimedScoreField,
  checkLadderRepeats,
  requireSmallerNullEffect,
  checkShares,
  refuseContradictoryApproval,
  requireEnforcedNetworkOff,
  requireHoldoutSource,
  requireHiddenHoldout,
  ...SUITE_RULES,
]

const LEGAL_MEASUREMENTS = {
  hard: 'mode auto, once or paired; or stability with any method',
  judge: 'mode auto or paired (paired items); or stability, with minimum_improvement',
  loss: 'mode auto or paired with a suite (suite pairs); or suite.advisory: true (means)',
} as const

/** The legal combinations of primary type and measurement, as the table in spec.md lists them. */
function requireLegalMeasurement({ spec, raw }: RuleContext): SpecFinding[] {
  const { type } = spec.metric.primary
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, 'measurement.stability') !== undefined
  const refuse = (key: 'mode' | 'stability', found: string) =>
    reportFinding(
      `measurement.${key}`,
      found,
      `for ${type}: ${LEGAL_MEASUREMENTS[type]}`,
      'choose one of these',
    )
  if (type !== 'hard' && mode === 'once') return refuse('mode', `mode once with a ${type} metric`)
  if (type === 'loss' && stability) return refuse('stability', 'stability with a loss metric')
  if (stability && mode !== 'auto') return refuse('mode', `mode ${mode} together with stability`)
  return []
}

/** One run of each side proves nothing about a number that varies between runs. */
function refuseTimedOnce({ spec, raw }: RuleContext): SpecFinding[] {
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, 'measurement.stability') !== undefined
  if (mode !== 'once' || stability || spec.metric.primary.type !== 'hard') return []
  const timed = listTimedDecisiveMetrics(spec)
  if (timed.length === 0) return []
  const names = timed.join(', ')
  const expected = `for ${names}: mode auto or paired; or stability with any method`
  const fix = 'choose one of these, or let the harness print something that repeats exactly'
  return reportFinding('measurement.mode', `once with ${names}, which is never deterministic`, expected, fix)
}

/** A scorer prints the metrics in its own format, so the output of the harness is not read. */
function refuseScoredBenchmarks({ spec }: RuleContext): SpecFinding[] {
  const { output, score } = spec.measurement
  if (score === null || !isBenchmarkFormat(output)) return []
  const fix = 'remove output, or measurement.score'
  return reportFinding('measurement.output', `${output} beside a scorer`, 'one of the two', fix)
}

/** A model scores the items of a scorer, which has no score of its own. */
function refuseScoreBesideJudge({ spec }: RuleContext): SpecFinding[] {
  const { format, score_field } = spec.measurement.score?.parse ?? { format: 'json', score_field: null }
  if (spec.metric.primary.type !== 'judge') return []
  const path = 'measurement.score.parse'
  if (score_field !== null)
    return reportFinding(`${path}.score_field`, score_field, 'none beside a judged metric', 'remove it')
  if (format === 'json') return []
  return reportFinding(`${path}.format`, format, 'json, the form of items', 'remove it')
}

function checkLadderRepeats({ spec }: RuleContext): SpecFinding[] {
  const ladder = spec.measurement.stability?.ladder ?? null
  const confirm = ladder?.confirmation_repeats ?? null
  if (ladder === null || confirm === null || confirm >= ladder.exploratory_pairs) return []
  const path = 'measurement.stability.ladder.confirmation_repeats'
  const least = `at least exploratory_pairs (${ladder.exploratory_pairs})`
  return reportFinding(path, String(confirm), least, 'raise it, or lower exploratory_pairs')
}

function requireSmallerNullEffect({ spec }: RuleContext): SpecFinding[] {
  const { min_effect: min, null_effect: none } = spec.evidence
  if (min === null || none === null || none < min || (none === 0 && min === 0)) return []
  const fix = 'lower it, or leave it out'
  return reportFinding('evidence.null_effect', String(none), `less than min_effect (${min})`, fix)
}

/** With this combination no experiment could ever land. */
function refuseContradictoryApproval({ spec }: RuleContext): SpecFinding[] {
  if (spec.merge.unisolated !== 'deny' || spec.measurement.isolation !== 'none') return []
  const expected = 'a spec under which something can land'
  const fix = 'set measurement.isolation: uid, or merge.unisolated: allow'
  return reportFinding('merge.unisolated', 'deny with measurement.isolation none', expected, fix)
}

function requireEnforcedNetworkOff({ spec }: RuleContext): SpecFinding[] {
  const { network, isolation } = spec.measurement
  if (network === 'on' || typeof isolation === 'object' || isolation === 'bwrap') return []
  const found = `off with isolation ${isolation}`
  const fix = 'set measurement.isolation: bwrap'
  return reportFinding('measurement.network', found, 'isolation bwrap or container', fix)
}

const HIGHER_IS_BETTER_UNIT = /(?:^|[._])(?:hz|ops_per_second|mb_per_s)$/

/** Any default would be a guess for a metric that neither winnow nor a benchmark tool defines. */
function requireDirection({ spec, raw, rules }: RuleContext): SpecFinding[] {
  const { name } = spec.metric.primary
  if (rules === 'ce' || getGivenValue(raw, 'metric.primary.direction') !== undefined) return []
  if (getGivenValue(raw, 'metric.primary.name') === undefined || BUILT_IN_METRICS.has(name)) return []
  if (isBenchmarkFormat(spec.measurement.output) && !HIGHER_IS_BETTER_UNIT.test(name)) return []
  const fix = `write direction: minimize if less ${name} is better, or direction: maximize if more is`
  return reportFinding('metric.primary.direction', 'nothing', 'minimize or maximize', fix)
}

function requireJudgeSection({ spec }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'judge' || spec.metric.judge !== null) return []
  const fix = 'add metric.judge: { rubric, scoring: { primary } }'
  return reportFinding('metric.judge', 'nothing', 'rubric and scoring', fix)
}

function requireJudgedPrimary({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  if (primary.type !== 'judge' || judge === null) return []
  const fields = [judge.scoring.primary, ...judge.scoring.secondary]
  if (fields.includes(primary.name)) return []
  const fix = `write name: ${judge.scoring.primary}, or add ${primary.name} to metric.judge.scoring`
  const expected = 'a field of metric.judge.scoring'
  return reportFinding('metric.primary.name', JSON.stringify(primary.name), expected, fix)
}

/** A score outside the scale counts as missing, so a scale is required. */
function requireScoreScale({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  if (primary.type !== 'judge' || judge === null || findScoreScale(judge) !== null) return []
  const { scale } = judge.scoring
  const found = scale === null ? 'no scale, or several, in the rubric' : `${scale.lowest} to ${scale.highest}`
  const fix = 'name one scale in the rubric, as in "from 1 to 5", or write scale: { lowest: 1, highest: 5 }'
  return reportFinding('metric.judge.scoring.scale', found, 'a lowest and a highest score', fix)
}

/** The judge section configures these values for a judged metric. A second key would contradict it. */
function refuseDuplicateJudgeKeys({ spec, raw }: RuleContext): SpecFinding[] {
  if (spec.metric.primary.type !== 'judge') return []
  const instead = {
    min_effect: 'metric.judge.minimum_improvement',
    pairs_per_job: 'metric.judge.sample_size',
    scale: 'nothing: differences of scores are compared as they are',
  }
  return Object.entries(instead).flatMap(([key, meant]) => {
    const value = getGivenValue(raw, ['evidence', key])
    if (value === undefined) return []
    const expected = `${meant} beside a judged primary`
    return reportFinding(['evidence', key], describeFoundValue(value), expected, 'remove it')
  })
}

/** An unreachable minimum improvement would reject every candidate. */
function requireReachableImprovement({ spec }: RuleContext): SpecFinding[] {
  const { primary, judge } = spec.metric
  const scale = judge === null ? null : findScoreScale(judge)
  if (primary.type !== 'judge' || judge === null || scale === null) return []
  const [low, high] = scale
  const { minimum_improvement: least } = judge
  const path = ['metric', 'judge', 'minimum_improvement']
  if (least >= high - low)
    return reportFinding(path, String(least), `less than the scale is wide (${low} to ${high})`, 'lower it')
  // A comparison of means with a stored score may show any difference, so 0 is allowed there.
  if (least > 0 || spec.measurement.stability !== null) return []
  const fix = 'write the smallest gain worth having'
  return reportFinding(path, '0', 'more than 0, since pairs can show no less', fix)
}

function requireSingletonRubric({ spec }: RuleContext): SpecFinding[] {
  const { judge } = spec.metric
  if (judge === null || judge.singleton_sample === 0 || judge.singleton_rubric !== null) return []
  const expected = '0 without a singleton_rubric'
  const fix = 'add metric.judge.singleton_rubric'
  return reportFinding('metric.judge.singleton_sample', String(judge.singleton_sample), expected, fix)
}

/** Its mean leaves out singletons without a score, and all pairs of a job have the same one. */
function refuseDecidingSingletons({ spec: { metric, policy } }: RuleContext): SpecFinding[] {
  const name = `singleton_${metric.primary.name}`
  const refuse = (path: SpecPath) =>
    reportFinding(path, name, 'a metric that the harness prints: this one is only logged', 'remove it')
  if (metric.primary.type !== 'judge') return []
  return [
    ...metric.objectives.flatMap((objective, at) =>
      objective.name === name && objective.role !== 'secondary'
        ? refuse(['metric', 'objectives', at, 'name'])
        : [],
    ),
    ...policy.tie_breakers.flatMap((tie, at) =>
      Object.values(tie).includes(name) ? refuse(['policy', 'tie_breakers', at]) : [],
    ),
  ]
}

function requireUniqueObjectives({ spec }: RuleContext): SpecFinding[] {
  const fix = 'remove or rename one of the two'
  return reportRepeatedNames('metric.objectives', spec.metric.objectives, 'each objective once', fix)
}

/** The code under test must not be able to print a metric that the supervisor measures. */
function refusePrintedBuiltIns({ spec }: RuleContext): SpecFinding[] {
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
    return reportFinding(path, name, 'a name winnow does not measure itself', 'choose another name')
  })
}

function refuseTimedScoreField({ spec }: RuleContext): SpecFinding[] {
  const { primary } = spec.metric
  const field = spec.measurement.score?.parse.score_field ?? null
  if (field === null || !BUILT_IN_METRICS.has(primary.name)) return []
  const found = `${field}, while the primary is ${primary.name}`
  const fix = 'name the scored metric in metric.primary.name, or remove score_field'
  return reportFinding('measurement.score.parse.score_field', found, 'a primary that is not built in', fix)
}

/** On a relative scale `5` means 500 %, which is almost always a mistake. `500%` states it explicitly. */
function checkShares(context: RuleContext): SpecFinding[] {
  return listShareKeys(context).flatMap(({ path, relative, units }) => {
    const written = getGivenValue(context.raw, path)
    if (isPercent(written) && !relative) {
      const fix = 'a percentage has no meaning here'
      return reportFinding(path, JSON.stringify(written), `a number in ${units}`, fix)
    }
    if (typeof written !== 'number' || !relative || Math.abs(written) < 1) return []
    const meaning = `${written}, which means ${Number((written * 100).toPrecision(12))} %`
    const fix = `did you mean ${written}%? ${suggestShareFix(path, units)}`
    return reportFinding(path, meaning, 'a share below 1', fix)
  })
}

interface ShareKey {
  path: SpecPath
  relative: boolean
  units: string
}

function listShareKeys({ spec }: RuleContext): ShareKey[] {
  const { metric, measurement, evidence } = spec
  const { type } = metric.primary
  const units = `the units of ${metric.primary.name}`
  const linear =
    evidence.scale === 'linear' || type === 'loss' || (type === 'judge' && measurement.stability === null)
  const regressions = metric.objectives.map(({ max_regression: allowed, name }, index) => ({
    path: ['metric', 'objectives', index, 'max_regression', 'value'],
    relative: allowed?.type !== 'absolute',
    units: `the units of ${name}`,
  }))
  return [
    { path: ['evidence', 'min_effect'], relative: !linear, units },
    { path: ['evidence', 'null_effect'], relative: !linear, units },
    { path: ['measurement', 'holdout', 'margin'], relative: !linear, units },
    { path: ['measurement', 'stability', 'comparison', 'relative_threshold'], relative: true, units },
    {
      path: ['metric', 'max_task_regression', 'value'],
      relative: metric.max_task_regression?.type !== 'absolute',
      units: 'the units of the task',
    },
    ...regressions,
  ]
}

function suggestShareFix(path: SpecPath, units: string): string {
  if (path.at(-1) === 'relative_threshold') return 'for metric units use noise_threshold'
  if (path.at(-1) === 'value') return `for ${units} write type: absolute`
  return `for ${units} write evidence.scale: linear`
}

const SOURCE = ['measurement', 'holdout', 'source']

function requireHoldoutSource({ spec }: RuleContext): SpecFinding[] {
  const source = spec.measurement.holdout?.source ?? null
  if (source === null || parseHoldoutSource(source) !== null) return []
  const expected = 'a branch, a ref in full (refs/...), or a variable in CAPITALS that names a directory'
  return reportFinding(SOURCE, JSON.stringify(source), expected, 'for example refs/holdout/a')
}

/** A variable that every execution can read does not hide a holdout. */
function requireHiddenHoldout({ spec }: RuleContext): SpecFinding[] {
  const { holdout, env, env_file: file } = spec.measurement
  const source = holdout?.source ?? null
  const named = source === null ? null : parseHoldoutSource(source)
  if (named === null || !('environment' in named)) return []
  if (![...env, ...(file?.keys ?? [])].includes(named.environment)) return []
  const found = `${named.environment}, which measurement.env or env_file lets every execution see`
  return reportFinding(SOURCE, found, 'a variable that is not let through', 'take it off that list')
}
