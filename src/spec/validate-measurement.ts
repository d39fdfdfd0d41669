import { describeFoundValue, type SpecFinding, type SpecPath } from './errors.ts'
import { createSpecFinding, findRepeatedIndexes, getGivenValue, type RuleContext } from './rule-context.ts'
import { BUILT_IN_METRICS, isBenchmarkFormat, isPercent } from './schema-values.ts'
import { findScoreScale, listTimedDecisiveMetrics, parseHoldoutSource } from './spec-facts.ts'

const LEGAL_MEASUREMENTS = {
  hard: 'mode auto, once or paired; or stability with any method',
  judge: 'mode auto or paired (paired items); or stability, with minimum_improvement',
  loss: 'mode auto or paired with a suite (suite pairs); or suite.advisory: true (means)',
} as const

/** The legal combinations of primary type and measurement, as the table in spec.md lists them. */
export function requireLegalMeasurement({ spec, raw }: RuleContext): SpecFinding[] {
  const { type } = spec.metric.primary
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, ['measurement', 'stability']) !== undefined
  const found: string[] = []
  if (type !== 'hard' && mode === 'once') found.push(`mode once with a ${type} metric`)
  if (type === 'loss' && stability) found.push('stability with a loss metric')
  if (stability && mode !== 'auto') found.push(`mode ${mode} together with stability`)
  const key = found[0]?.startsWith('mode') ? 'mode' : 'stability'
  return found
    .slice(0, 1)
    .map(what =>
      createSpecFinding(
        ['measurement', key],
        what,
        `for ${type}: ${LEGAL_MEASUREMENTS[type]}`,
        'choose one of these',
      ),
    )
}

/** One run of each side proves nothing about a number that varies between runs. */
export function refuseTimedOnce({ spec, raw }: RuleContext): SpecFinding[] {
  const { mode } = spec.measurement
  const stability = getGivenValue(raw, ['measurement', 'stability']) !== undefined
  if (mode !== 'once' || stability || spec.metric.primary.type !== 'hard') return []
  const timed = listTimedDecisiveMetrics(spec)
  if (timed.length === 0) return []
  const names = timed.join(', ')
  return [
    createSpecFinding(
      ['measurement', 'mode'],
      `once with ${names}, which is never deterministic`,
      `for ${names}: mode auto or paired; or stability with any method`,
      'choose one of these, or let the harness print something that repeats exactly',
    ),
  ]
}

/** A scorer prints the metrics in its own format, so the output of the harness is not read. */
export function refuseScoredBenchmarks({ spec }: RuleContext): SpecFinding[] {
  const { output, score } = spec.measurement
  if (score === null || !isBenchmarkFormat(output)) return []
  const fix = 'remove output, or measurement.score'
  return [createSpecFinding(['measurement', 'output'], `${output} beside a scorer`, 'one of the two', fix)]
}

export function checkLadderRepeats({ spec }: RuleContext): SpecFinding[] {
  const ladder = spec.measurement.stability?.ladder ?? null
  const confirm = ladder?.confirmation_repeats ?? null
  if (ladder === null || confirm === null || confirm >= ladder.exploratory_pairs) return []
  const path = ['measurement', 'stability', 'ladder', 'confirmation_repeats']
  const least = `at least exploratory_pairs (${ladder.exploratory_pairs})`
  return [createSpecFinding(path, String(confirm), least, 'raise it, or lower exploratory_pairs')]
}

const MIN_SUITE_PAIRS = 12

/** Fewer pairs cannot reach any threshold, even when every one of them is better. */
export function requireDecidableSuite({ spec }: RuleContext): SpecFinding[] {
  const { suite } = spec.measurement
  if (suite === null || suite.advisory) return []
  const pairs = suite.tasks.length * suite.seeds
  if (pairs >= MIN_SUITE_PAIRS) return []
  const found = `${pairs} (task, seed) ${pairs === 1 ? 'pair' : 'pairs'}`
  const fix = `add tasks, set seeds: ${Math.ceil(MIN_SUITE_PAIRS / suite.tasks.length)}, or set advisory: true`
  return [createSpecFinding(['measurement', 'suite'], found, `at least ${MIN_SUITE_PAIRS}`, fix, 'key')]
}

export function requireSuiteCommands({ spec }: RuleContext): SpecFinding[] {
  const tasks = spec.measurement.suite?.tasks ?? []
  return tasks.flatMap((task, index) => {
    const ways = [task.command, task.args].filter(way => way !== undefined).length
    const described = task.task !== undefined || task.workflow !== undefined
    if (ways === 1 || (ways === 0 && described)) return []
    const found = ways === 2 ? 'command and args' : 'nothing to run'
    return [
      createSpecFinding(
        ['measurement', 'suite', 'tasks', index],
        found,
        'command, args, task or workflow',
        'give command or args',
      ),
    ]
  })
}

export function requireUniqueSuiteTasks({ spec }: RuleContext): SpecFinding[] {
  const names = (spec.measurement.suite?.tasks ?? []).map(({ name }) => name)
  return findRepeatedIndexes(names).map(index =>
    createSpecFinding(
      ['measurement', 'suite', 'tasks', index, 'name'],
      JSON.stringify(names[index]),
      'a name no other task has',
      'rename it',
    ),
  )
}

export function requireSmallerNullEffect({ spec }: RuleContext): SpecFinding[] {
  const { min_effect: min, null_effect: none } = spec.evidence
  if (min === null || none === null || none < min || (none === 0 && min === 0)) return []
  return [
    createSpecFinding(
      ['evidence', 'null_effect'],
      String(none),
      `less than min_effect (${min})`,
      'lower it, or leave it out',
    ),
  ]
}

/** With this combination no experiment could ever land. */
export function refuseContradictoryApproval({ spec }: RuleContext): SpecFinding[] {
  if (spec.merge.unisolated !== 'deny' || spec.measurement.isolation !== 'none') return []
  return [
    createSpecFinding(
      ['merge', 'unisolated'],
      'deny with measurement.isolation none',
      'a spec under which something can land',
      'set measurement.isolation: uid, or merge.unisolated: allow',
    ),
  ]
}

export function requireEnforcedNetworkOff({ spec }: RuleContext): SpecFinding[] {
  const { network, isolation } = spec.measurement
  if (network === 'on' || typeof isolation === 'object' || isolation === 'bwrap') return []
  const found = `off with isolation ${isolation}`
  return [
    createSpecFinding(
      ['measurement', 'network'],
      found,
      'isolation bwrap or container',
      'set measurement.isolation: bwrap',
    ),
  ]
}

const HIGHER_IS_BETTER_UNIT = /(?:^|[._])(?:hz|ops_per_second|mb_per_s)$/

/**
 * Requires an explicit direction for metrics that neither winnow nor a benchmark tool defines: any default would be a
 * guess.
 */
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

/** A score outside the scale counts as missing, so a scale is required. */
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

/** The judge section configures these values for a judged metric. A second key would contradict it. */
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

/** An unreachable minimum improvement would reject every candidate. */
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
  // A comparison of means with a stored score may show any difference, so 0 is allowed there.
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

/** Judging needs a cost cap unless a person lifts it on the command line. A file cannot lift it. */
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

/** The code under test must not be able to print a metric that the supervisor measures. */
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

/** On a relative scale `5` means 500 %, which is almost always a mistake. `500%` states it explicitly. */
export function checkShares(context: RuleContext): SpecFinding[] {
  return listShareKeys(context).flatMap(({ path, relative, units }) => {
    const written = getGivenValue(context.raw, path)
    if (isPercent(written) && !relative)
      return [
        createSpecFinding(
          path,
          JSON.stringify(written),
          `a number in ${units}`,
          'a percentage has no meaning here',
        ),
      ]
    if (typeof written !== 'number' || !relative || Math.abs(written) < 1) return []
    const meaning = `${written}, which means ${Number((written * 100).toPrecision(12))} %`
    return [
      createSpecFinding(
        path,
        meaning,
        'a share below 1',
        `did you mean ${written}%? ${suggestShareFix(path, units)}`,
      ),
    ]
  })
}

interface ShareKey {
  path: SpecPath
  relative: boolean
  units: string
}

function listShareKeys({ spec }: RuleContext): ShareKey[] {
  const { metric, measurement, evidence } = spec
  const units = `the units of ${metric.primary.name}`
  const linear =
    evidence.scale === 'linear' || (metric.primary.type === 'judge' && measurement.stability === null)
  const regressions = metric.objectives.map(({ max_regression: allowed, name }, index) => ({
    path: ['metric', 'objectives', index, 'max_regression', 'value'],
    relative: allowed?.type !== 'absolute',
    units: `the units of ${name}`,
  }))
  const taskRegression = measurement.suite?.max_task_regression ?? null
  return [
    { path: ['evidence', 'min_effect'], relative: !linear, units },
    { path: ['evidence', 'null_effect'], relative: !linear, units },
    { path: ['measurement', 'holdout', 'margin'], relative: !linear, units },
    { path: ['measurement', 'stability', 'comparison', 'relative_threshold'], relative: true, units },
    {
      path: ['measurement', 'suite', 'max_task_regression', 'value'],
      relative: taskRegression?.type !== 'absolute',
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

export function requireHoldoutSource({ spec }: RuleContext): SpecFinding[] {
  const source = spec.measurement.holdout?.source ?? null
  if (source === null || parseHoldoutSource(source) !== null) return []
  const expected = 'a branch, a ref in full (refs/...), or a variable in CAPITALS that names a directory'
  return [createSpecFinding(SOURCE, JSON.stringify(source), expected, 'for example refs/holdout/a')]
}

/** A variable that every execution can read does not hide a holdout. */
export function requireHiddenHoldout({ spec }: RuleContext): SpecFinding[] {
  const { holdout, env, env_file: file } = spec.measurement
  const source = holdout?.source ?? null
  const named = source === null ? null : parseHoldoutSource(source)
  if (named === null || !('environment' in named)) return []
  if (![...env, ...(file?.keys ?? [])].includes(named.environment)) return []
  const found = `${named.environment}, which measurement.env or env_file lets every execution see`
  return [createSpecFinding(SOURCE, found, 'a variable that is not let through', 'take it off that list')]
}
