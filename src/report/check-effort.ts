import { CALIBRATION_JOBS } from '../decide/calibration.ts'
import { buildEpochRules } from '../decide/epochs.ts'
import { formatCount, formatNumber } from '../decide/wording.ts'
import { countCalibrationRuns } from '../plan/orders.ts'
import type { Spec } from '../spec/schema.ts'
import {
  isJudgedMetric,
  countJudgedRuns,
  listArtifacts,
  listTimedDecisiveMetrics,
  resolvePairsPerJob,
} from '../spec/spec-facts.ts'
import { formatDollars, formatMinutes, type HarnessTrial } from './check-trial.ts'

// How two versions are compared

export type ComparisonMode = 'once' | 'pairs' | 'once or pairs' | 'stored score'

export function selectComparisonMode(spec: Spec, deterministic: boolean | null): ComparisonMode {
  const { stability, mode } = spec.measurement
  if (stability !== null) return 'stored score'
  if (mode === 'once' || deterministic === true) return 'once'
  const never = mode === 'paired' || listTimedDecisiveMetrics(spec).length > 0
  return never || deterministic === false ? 'pairs' : 'once or pairs'
}

// Executions of an idea

/** Executions of one idea, both sides together, if it uses all of them. */
function computeMaxExecutions({ measurement, evidence }: Spec): number {
  const { stability, baseline, suite } = measurement
  if (stability === null) return suite === null ? 4 : 2 * suite.tasks.length * suite.seeds * evidence.max_jobs
  const samples = countSamples(stability)
  return baseline === 'cached' ? samples : 2 * samples
}

function countSamples({
  mode,
  repeat_count: repeats,
  ladder,
}: NonNullable<Spec['measurement']['stability']>): number {
  return mode === 'stable' ? 1 : mode === 'repeat' ? repeats : (ladder?.confirmation_repeats ?? repeats)
}

export function describeCampaignTime(spec: Spec, seconds: number): string {
  const most = computeMaxExecutions(spec)
  const each = (most * seconds) / 60
  const all = each * spec.stopping.max_iterations
  return `time: at most ${formatCount(most, 'execution')} or ${formatMinutes(each)} an idea, ${formatMinutes(all)} for ${spec.stopping.max_iterations}, plus setup and gates`
}

/** Upper limit on the execution time of a whole campaign. */
export function computeMaxSeconds(spec: Spec, seconds: number): number {
  return computeMaxExecutions(spec) * seconds * spec.stopping.max_iterations
}

// Model calls of the harness

/** What a campaign pays if each execution costs what those of the trial cost. */
export function renderModelForecast(spec: Spec, trial: HarnessTrial): string[] {
  const { models } = trial
  if (models === undefined) return []
  const { executions, requests, tokens, usd } = models
  const [each, asked] = [usd, requests].map(sum => sum / Math.max(1, executions)) as [number, number]
  const price = (count: number) =>
    `${formatCount(count, 'execution')}, about ${formatDollars(count * each)} (${formatCount(Math.ceil(count * asked), 'request')})`
  const used = `${formatCount(requests, 'request')}, ${formatNumber(tokens)} tokens, ${formatDollars(usd)}`
  const cap = spec.stopping.max_total_cost_usd
  const budget =
    cap === null
      ? 'none, which winnow run --allow-uncapped has to allow'
      : `${formatDollars(cap)} in all (stopping.max_total_cost_usd)${each > 0 ? `, about ${formatCount(Math.floor(cap / each), 'execution')}` : ''}`
  return [
    `models of the harness: ${used} for ${formatCount(executions, 'execution')}; no campaign counts this trial`,
    ...listPlannedExecutions(spec, trial).map(([what, count]) => `${what}: ${price(count)}`),
    ...(isJudgedMetric(spec) ? [] : describeGradientQuestions(spec)),
    `budget of the harness: ${budget}`,
  ]
}

type PlannedExecutions = [what: string, executions: number]

/** Of a suite whose harness asks no models. */
export function renderSuiteForecast(spec: Spec, trial: HarnessTrial): string[] {
  if (spec.measurement.suite === null) return []
  return listPlannedExecutions(spec, trial).map(
    ([what, count]) => `${what}: ${formatCount(count, 'execution')}`,
  )
}

function listPlannedExecutions(spec: Spec, { seconds, attacks = 0 }: HarnessTrial): PlannedExecutions[] {
  const attacked: PlannedExecutions = ['attacks on the harness, and more if one of them gains', attacks + 1]
  return [
    ...describeIdeaExecutions(spec, seconds),
    ...describePassExecutions(spec, seconds),
    ...(attacks === 0 ? [] : [attacked]),
  ]
}

function describeIdeaExecutions(spec: Spec, seconds: number): PlannedExecutions[] {
  const compared = selectComparisonMode(spec, null)
  const one = computeMaxExecutions(spec)
  const start = countStartExecutions(spec, seconds)
  if (isJudgedMetric(spec)) return [['one job of items', 2 * countJudgedRuns(spec)]]
  if (compared === 'stored score' || compared === 'once')
    return [
      ['one idea, at most', one],
      ['before the first idea', start],
    ]
  const pairs = countPairExecutions(spec, seconds)
  return [
    ...(compared === 'pairs'
      ? []
      : ([
          ['one idea, where the numbers repeat exactly', one],
          ['before the first idea, to see whether they do', countCalibrationRuns(spec)],
        ] satisfies PlannedExecutions[])),
    ['one job of pairs, of which an idea needs one or more', pairs],
    ['before the first idea, two such jobs', CALIBRATION_JOBS * pairs],
  ]
}

/** Both sides of one job, with warm-ups. */
function countPairExecutions({ measurement: { suite }, evidence }: Spec, seconds: number): number {
  return 2 * (suite === null ? resolvePairsPerJob(evidence, seconds) + 1 : suite.tasks.length * suite.seeds)
}

/** Before the first idea. Where the numbers may repeat exactly, they are assumed to. */
function countStartExecutions(spec: Spec, seconds: number): number {
  if (isJudgedMetric(spec) && spec.measurement.stability === null)
    return CALIBRATION_JOBS * 2 * countJudgedRuns(spec)
  const compared = selectComparisonMode(spec, null)
  if (compared === 'pairs') return CALIBRATION_JOBS * countPairExecutions(spec, seconds)
  return compared === 'once or pairs' ? countCalibrationRuns(spec) : countPassExecutions(spec)
}

// Epochs

/** Passes of the incumbent: those of the unchanged start, and those of the epochs. Null without epochs. */
export function countPasses(spec: Spec): { baseline: number; count: number; own: number } | null {
  const rules = buildEpochRules(spec)
  if (rules === null) return null
  const { baseline, count } = rules
  // Only pairs of items have no mean. Elsewhere, what is measured before the first idea is the first pass.
  const isFirstMeasured = !isJudgedMetric(spec) || spec.measurement.stability !== null
  return { baseline, count, own: baseline + count - (isFirstMeasured ? 1 : 0) }
}

export function describePasses({
  baseline,
  count,
  own,
}: NonNullable<ReturnType<typeof countPasses>>): string {
  const of = baseline === 0 ? `${count} of the epochs` : `${baseline} of the start and ${count} of the epochs`
  return own < baseline + count ? `passes, ${of}: the ${own} after the first` : `passes, ${of}`
}

/** Of one pass. */
function countPassExecutions({ measurement: { suite, stability } }: Spec): number {
  if (suite !== null) return suite.tasks.length * suite.seeds
  return stability === null ? 1 : countSamples(stability)
}

function describePassExecutions(spec: Spec, seconds: number): PlannedExecutions[] {
  const passes = countPasses(spec)
  if (passes === null) return []
  const own = passes.own * countPassExecutions(spec)
  return [
    [describePasses(passes), own],
    ['all of that without an idea', countStartExecutions(spec, seconds) + own],
  ]
}

/** A question for each artifact after each pass but the last. Its length is known when it is asked. */
export function describeGradientQuestions(spec: Spec): string[] {
  const passes = countPasses(spec)
  const gradient = spec.propose.find(({ use }) => use === 'textgrad')
  if (passes === null || gradient?.use !== 'textgrad') return []
  const chosen = gradient.artifacts.length === 0 ? listArtifacts(spec).length : gradient.artifacts.length
  const turns = passes.baseline === 0 ? passes.count - 1 : passes.count
  return [
    `text gradients: ${formatCount(turns * chosen, 'request')} at most to ${gradient.model}, not in these sums`,
  ]
}
