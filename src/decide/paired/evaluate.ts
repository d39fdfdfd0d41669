import type { PairedTerms, StopRule } from '../../model/order.ts'
import { getOwnValue } from '../../model/own-value.ts'
import { type Pair, type PairJob, selectReportedJobs } from '../../model/pairs.ts'
import type { Spec } from '../../spec/schema.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { endJob, MAX_CANDIDATE_FAILURES, observePair, resetKeepSide } from '../evidence/observe.ts'
import {
  computeSignedDifference,
  type Difference,
  type EvidenceScale,
  type MetricMeasure,
} from '../evidence/rank-test.ts'
import {
  type EvidenceStatus,
  getEvidenceStatus,
  isHarmShown,
  isSimplificationRefuted,
  isSimplificationShown,
  isTieBreakerShown,
  judgeGuardrail,
  type KeepDifference,
} from '../evidence/rules.ts'
import { type EvidenceState, startEvidence } from '../evidence/state.ts'
import { listObjectives, type Objective } from '../metrics.ts'
import { findDecidingTie, listTieBreakers } from '../tie-breakers.ts'
import { judgeKeepCheck, type KeepCheckResult } from './keep-check.ts'

export type PairedRule = Extract<StopRule, { rule: 'paired' }>

/** One candidate's pairs and the terms that apply to them: all that its verdict depends on (invariant 3). */
export interface PairedCase {
  spec: Pick<Spec, 'metric' | 'policy'>
  rule: PairedRule
  terms: Pick<PairedTerms, 'as' | 'alpha' | 'max_jobs' | 'give_up'>
  jobs: readonly PairJob[]
  /** Only for the text: items of both sides have other ids, and were matched at random. */
  two_samples?: boolean
}

/** Computed after every pair of a job, and for the verdict. */
export interface PairsEvaluation {
  status: EvidenceStatus
  primary: EvidenceState
  /** Required objectives that are shown to gain. */
  improved: string[]
  /** Required objectives and guardrails that are shown to lose. */
  harmed: string[]
  /** Guardrails that are not shown harmless yet. */
  open: string[]
  tie: string | null
  /** The required objective that goes on where the primary has dropped. */
  promising: string | null
  /** Once the primary's gain is shown; null: not yet, or nothing else has to hold. */
  check: KeepCheckResult | null
}

interface EvaluationParts extends Omit<PairsEvaluation, 'status' | 'tie' | 'promising' | 'check'> {
  /** A required objective besides the primary that has screened and is not decided. */
  other: { name: string; state: EvidenceState } | null
  /** A task is shown to lose more than metric.max_task_regression allows. */
  lostTask: boolean
}

/** One metric's value on both sides of a pair; null for a side that failed, or that did not print it. */
export interface MetricPair {
  base: number | null
  candidate: number | null
  lost?: true | undefined
  base_first?: boolean | undefined
}

// Evaluation of a candidate

export function evaluatePairs(paired: PairedCase): PairsEvaluation {
  const evaluation = evaluateMeasuredPairs(paired)
  return evaluation.status === 'new-job' && hasNoItemsLeft(paired)
    ? { ...evaluation, status: 'not-proven' }
    : evaluation
}

function evaluateMeasuredPairs(paired: PairedCase): PairsEvaluation {
  const parts = evaluateParts(paired)
  const { other, lostTask, ...known } = parts
  const evaluation = { ...known, tie: null, promising: null, check: null }
  // A gain of the mean does not make up for a task that got worse, so more runs would only cost money.
  if (lostTask) return { ...evaluation, status: 'drop' }
  if (paired.terms.as === 'simplify') return { ...evaluation, ...evaluateSimplification(paired, parts) }
  const gained = parts.improved.length > 0
  const dropped = !gained && hasEnded(parts)
  const searching = !dropped && parts.primary.given_up === null
  const tie = gained || searching ? null : findWonTieBreaker(paired, parts)
  if (gained || tie !== null) {
    const guarded = getGuardedStatus(paired, parts)
    const check = guarded === 'keep' ? checkKeep(paired, parts) : null
    return { ...evaluation, status: check === null ? guarded : CHECKED_STATUS[check.is], tie, check }
  }
  // Where the primary has dropped, another objective may only go on if no evidence speaks against it.
  const isSettled = parts.harmed.length > 0 || getEvidenceStatus(parts.primary).reason === 'broken'
  if (!dropped || other === null || isSettled) return { ...evaluation, status: getEndStatus(parts) }
  return { ...evaluation, status: getEvidenceStatus(other.state).status, promising: other.name }
}

/** A plan holds what is kept here in spite of slow runs: a person decides (plan/holds.ts). */
const CHECKED_STATUS = {
  passed: 'keep',
  slower: 'keep',
  unshown: 'keep',
  luck: 'not-proven',
  measure: 'continue',
  'new-job': 'new-job',
} as const satisfies Record<KeepCheckResult['is'], EvidenceStatus>

/** Ideas that were confirmed on an earlier base have passed it there. */
function checkKeep(paired: PairedCase, { primary, improved }: EvaluationParts): KeepCheckResult | null {
  const { spec, rule, terms, jobs } = paired
  const { keep_check: check } = rule
  const [{ name, direction }] = listObjectives(spec.metric)
  if (check === undefined || terms.as !== 'idea' || !improved.includes(name)) return null
  return judgeKeepCheck({
    check,
    measure: { direction, scale: rule.scale },
    minEffect: rule.min_effect,
    nullEffect: rule.null_effect,
    jobs: jobs.map(job => ({
      pairs: collectMetricPairs([job], name),
      unreported: job.unreported === true,
    })),
    screenedIn: primary.screened === null ? -1 : findJob(jobs, primary.jobs[primary.screened.job]?.id),
    gainedIn: findGainJob(paired),
  })
}

function findJob(jobs: readonly PairJob[], order: string | number | undefined): number {
  return jobs.findIndex(job => job.order === order)
}

/** The job in which the primary was decided. */
function findGainJob(paired: PairedCase): number {
  const [primary] = listObjectives(paired.spec.metric)
  const shown = paired.jobs.findIndex((_, at) => {
    const jobs = paired.jobs.slice(0, at + 1)
    return computeObjectiveEvidence({ ...paired, jobs }, primary).decided !== null
  })
  return shown === -1 ? paired.jobs.length - 1 : shown
}

function evaluateParts(paired: PairedCase): EvaluationParts {
  const objectives = listObjectives(paired.spec.metric)
  const required = objectives.filter(({ role }) => role === 'required')
  const all = required.map(each => ({ name: each.name, state: computeObjectiveEvidence(paired, each) }))
  const guardrails = objectives
    .filter(({ role }) => role === 'guardrail')
    .map(guardrail => ({ name: guardrail.name, is: evaluateGuardrail(paired, guardrail) }))
  const worse = all.filter(({ state }) => isHarmShown(state.differences))
  const tasks = evaluateTasks(paired)
  const limited = [...guardrails, ...tasks]
  return {
    primary: all[0]?.state ?? computeObjectiveEvidence(paired, objectives[0]),
    improved: all.filter(({ state }) => getEvidenceStatus(state).status === 'keep').map(({ name }) => name),
    harmed: [...worse, ...limited.filter(({ is }) => is === 'harmful')].map(({ name }) => name),
    open: limited.filter(({ is }) => is === 'open').map(({ name }) => name),
    lostTask: tasks.some(({ is }) => is === 'harmful'),
    other: all.slice(1).find(({ state }) => state.screened !== null && state.decided === null) ?? null,
  }
}

/** A side with this many equal pairs does not differ at all, even where no margin could be shown to hold. */
const EQUAL_PAIRS = 6

/**
 * Each task is a guardrail under metric.max_task_regression: a change is kept once every task is shown to lose no more
 * than that, with an error of 5 % for each task. That any task is worse is claimed with an error of 5 % for all.
 */
function evaluateTasks(paired: PairedCase): { name: string; is: ReturnType<typeof evaluateGuardrail> }[] {
  const { max_task_regression: maxRegression, primary } = paired.spec.metric
  if (maxRegression === undefined || paired.rule.by_task !== true) return []
  const { name, direction } = primary
  const limit = { name, direction, maxRegression }
  const tasks = listPairedTasks(paired.jobs)
  return tasks.map(task => {
    const jobs = paired.jobs.map(job => ({
      ...job,
      pairs: job.pairs.filter(pair => pair.lost === true || pair.task === task),
    }))
    return { name: `task ${task}`, is: evaluateGuardrail({ ...paired, jobs }, limit, tasks.length) }
  })
}

export function listPairedTasks(jobs: readonly PairJob[]): string[] {
  return [...new Set(jobs.flatMap(({ pairs }) => pairs.flatMap(({ task }) => task ?? [])))]
}

type LimitedMetric = Pick<Objective, 'name' | 'direction' | 'maxRegression'>

function evaluateGuardrail(
  { rule, jobs }: PairedCase,
  guardrail: LimitedMetric,
  tests = 1,
): 'harmless' | 'harmful' | 'open' {
  const pairs = collectMetricPairs(jobs, guardrail.name)
  const { scale, margin } = computeGuardrailMargin(rule, guardrail, pairs)
  const measure = { direction: guardrail.direction, scale }
  const differences = computeDifferences(pairs, measure)
  if (differences.length >= EQUAL_PAIRS && differences.every(difference => difference === 0))
    return 'harmless'
  const forKeeping = listKeepDifferences(jobs, guardrail.name, measure)
  const allowsLoss = guardrail.maxRegression !== null
  return judgeGuardrail(differences, margin, { forKeeping, tests, allowsLoss })
}

/** The loss that a guardrail allows, on the scale it is compared on: max_regression, else min_effect. */
function computeGuardrailMargin(
  rule: PairedRule,
  { maxRegression, direction }: LimitedMetric,
  pairs: readonly MetricPair[],
) {
  if (maxRegression?.type === 'absolute' && maxRegression.value >= 0)
    return { scale: 'linear' as const, margin: maxRegression.value }
  const scale = selectScale(rule, pairs)
  const share = maxRegression !== null && maxRegression.value >= 0 ? maxRegression.value : null
  if (scale === 'linear')
    return { scale, margin: (share ?? getEffectShare(rule)) * computeTypicalBase(pairs) }
  return { scale, margin: share === null ? getEffectShare(rule) : toLogMargin(share, direction) }
}

/** The share of its value that a metric may lose, as a difference of logarithms. */
export function toLogMargin(share: number, direction: MetricMeasure['direction']): number {
  return direction === 'minimize' ? Math.log1p(share) : -Math.log1p(-Math.min(share, 0.999))
}

/** For other metrics: the primary's min_effect in its own units says nothing about them. */
const DEFAULT_SHARE = 0.02

function getEffectShare({ scale, min_effect }: PairedRule): number {
  return scale === 'log' ? min_effect : DEFAULT_SHARE
}

/**
 * Pairs that count for keeping, with every lost pair as a loss: a candidate that ends the machine when it
 * falls behind gains nothing by that (decision 039). After a job without any report they start again, with
 * one loss for each such job.
 */
function listKeepDifferences(
  jobs: readonly PairJob[],
  metric: string,
  measure: MetricMeasure,
): KeepDifference[] {
  const gaps = jobs.filter(({ unreported }) => unreported).length
  const start = jobs.findLastIndex(({ unreported }) => unreported) + 1
  let at = computeDifferences(collectMetricPairs(jobs.slice(0, start), metric), measure).length - 1
  const lost = Array.from({ length: gaps }, () => ({ difference: null, at }))
  const since = collectMetricPairs(jobs.slice(start), metric).flatMap((pair): KeepDifference[] => {
    if (pair.lost) return [{ difference: null, at }]
    return computeDifferences([pair], measure).map(difference => ({ difference, at: ++at }))
  })
  return [...lost, ...since]
}

function computeKeepDifferences(
  jobs: readonly PairJob[],
  metric: string,
  measure: MetricMeasure,
): Difference[] {
  return listKeepDifferences(jobs, metric, measure).map(({ difference }) => difference)
}

/**
 * Less code for equal speed: it merges when it is shown to cost less than min_effect. The campaign has a
 * budget for the costs of simplifications, even for proven ones.
 */
function evaluateSimplification(
  { spec, rule, terms, jobs }: PairedCase,
  { primary, harmed, open }: EvaluationParts,
): Pick<PairsEvaluation, 'status' | 'harmed'> {
  const others = harmed.filter(name => name !== spec.metric.primary.name)
  const fails = isSimplificationRefuted(primary.differences, rule.min_effect)
  if (others.length > 0 || fails || getEvidenceStatus(primary).reason === 'broken')
    return { status: 'drop', harmed }
  const forKeeping = computeKeepDifferences(jobs, spec.metric.primary.name, primary.rule)
  const holds = isSimplificationShown(forKeeping, rule.min_effect)
  if (holds && open.length === 0) return { status: 'keep', harmed: [] }
  return { status: getContinueStatus(terms.max_jobs, jobs), harmed }
}

function getContinueStatus(maxJobs: number, jobs: PairedCase['jobs']): EvidenceStatus {
  const last = jobs.at(-1)
  if (last !== undefined && !last.complete) return 'continue'
  return selectReportedJobs(jobs).length < maxJobs ? 'new-job' : 'not-proven'
}

/** The primary needs no more pairs: it is dropped, or given up. */
function hasEnded({ primary }: EvaluationParts): boolean {
  const { status } = getEvidenceStatus(primary)
  return status === 'drop' || (status === 'not-proven' && primary.given_up !== null)
}

function findWonTieBreaker(
  { spec, rule, terms, jobs }: PairedCase,
  { primary, harmed }: EvaluationParts,
): string | null {
  if (harmed.length > 0) return null
  const differences = computeKeepDifferences(jobs, spec.metric.primary.name, primary.rule)
  // Each of them is a further chance to be kept by luck, so they share the level.
  const level = terms.alpha / listTieBreakers(spec.policy).length
  const decided = findDecidingTie(spec.policy, ({ name, direction }) => {
    const pairs = collectMetricPairs(jobs, name)
    const own = computeKeepDifferences(jobs, name, { direction, scale: selectScale(rule, pairs) })
    if (own.every(difference => difference === null)) return 'missing'
    if (isTieBreakerShown({ differences, minEffect: rule.min_effect, own, level })) return 'better'
    return isHarmShown(own) ? 'worse' : 'even'
  })
  return decided?.is === 'better' ? decided.name : null
}

/** A gain does not count beside a shown harm, and not yet beside one that is not excluded. */
function getGuardedStatus(
  { terms, jobs }: PairedCase,
  { primary, harmed, open }: EvaluationParts,
): EvidenceStatus {
  if (harmed.length > 0 || primary.failures >= MAX_CANDIDATE_FAILURES) return 'drop'
  if (open.length === 0) return 'keep'
  return getContinueStatus(terms.max_jobs, jobs)
}

/** An idea that is given up and shown to harm another metric is worse, and not merely unproven. */
function getEndStatus(parts: EvaluationParts): EvidenceStatus {
  const { status } = getEvidenceStatus(parts.primary)
  return status === 'not-proven' && hasEnded(parts) && parts.harmed.length > 0 ? 'drop' : status
}

/** A value without a logarithm, although the campaign's scale is log: pairs cannot be compared any more. */
export function findOffScaleMetric({ spec, rule, jobs }: PairedCase): string | null {
  const { name } = spec.metric.primary
  return rule.scale === 'log' && !hasLogarithms(collectMetricPairs(jobs, name)) ? name : null
}

/**
 * Every item of the base was scored in an earlier sample: another job would measure, and compare nothing.
 * Does not apply to the first sample: if that has no pair, models gave no scores.
 */
export function hasNoItemsLeft({ spec, jobs }: Pick<PairedCase, 'spec' | 'jobs'>): boolean {
  const [, ...later] = jobs
  const last = later.at(-1)
  return isJudgedMetric(spec) && last?.complete === true && last.pairs.every(({ base }) => base === null)
}

/** The scale was pinned for the primary; another metric uses it where its values allow. */
export function selectScale(rule: Pick<PairedRule, 'scale'>, pairs: readonly MetricPair[]): EvidenceScale {
  return rule.scale === 'log' && hasLogarithms(pairs) ? 'log' : 'linear'
}

// Evidence of one objective

/** One required objective's evidence; m of them share the level. */
export function computeObjectiveEvidence(
  { spec, rule, terms, jobs }: PairedCase,
  objective: Objective,
): EvidenceState {
  const objectives = listObjectives(spec.metric)
  const required = objectives.filter(({ role }) => role === 'required')
  const pairs = collectMetricPairs(jobs, objective.name)
  const start = startEvidence({
    direction: objective.direction,
    ...selectEffects(rule, objective, pairs, objective.name === objectives[0].name),
    alpha: terms.alpha,
    screen: rule.screen,
    pairsPerJob: countPairsOfJob(rule, jobs),
    maxJobs: terms.max_jobs,
    giveUp: terms.give_up,
    graded: objective.judged || rule.by_task === true,
    freshRunners: rule.fresh_runners,
    singleMachine: rule.single_machine,
    confirmed: terms.as === 'confirmed',
    combination: terms.as === 'combination',
    m: required.length,
  })
  return observeJobs(start, jobs, objective.name)
}

/** An execution that prints many tasks may end a job with more pairs than it needs. */
function countPairsOfJob({ pairs, by_task }: PairedRule, jobs: readonly PairJob[]): number {
  return by_task === true ? Math.max(pairs, ...jobs.map(job => job.pairs.length)) : pairs
}

/** The smallest gain, in the units of the scale; never 0, since no evidence could show that. */
function selectEffects(
  rule: PairedRule,
  objective: Objective,
  pairs: readonly MetricPair[],
  primary: boolean,
) {
  const scale = primary ? rule.scale : selectScale(rule, pairs)
  const { min_effect, null_effect } = rule
  if (primary || (rule.scale === 'log' && scale === 'log'))
    return { scale, minEffect: min_effect, nullEffect: null_effect }
  const share = getEffectShare(rule)
  const minEffect = scale === 'log' ? share : share * computeTypicalBase(pairs) || Number.MIN_VALUE
  return { scale, minEffect, nullEffect: minEffect * (null_effect / min_effect) }
}

function observeJobs(start: EvidenceState, jobs: readonly PairJob[], metric: string): EvidenceState {
  let state = start
  let gaps = 0
  for (const { order: job, runner, also_on, complete, unreported, pairs } of jobs) {
    if (unreported) state = resetKeepSide(state, ++gaps)
    for (const pair of pairs) {
      const order = pair.first === 'base' ? 'base-first' : 'candidate-first'
      state = observePair(state, { ...readPair(pair, metric), job, runner, also_on, order })
    }
    if (complete && state.jobs.at(-1)?.id === job) state = endJob(state, job)
  }
  return state
}

// Pairs of one metric

export function collectMetricPairs(jobs: readonly PairJob[], metric: string): MetricPair[] {
  return jobs.flatMap(({ pairs }) => pairs.map(pair => readPair(pair, metric)))
}

function readPair({ first, base, candidate, lost }: Pair, metric: string): MetricPair {
  const values = {
    base: getOwnValue(base, metric) ?? null,
    candidate: getOwnValue(candidate, metric) ?? null,
    base_first: first === 'base',
  }
  return lost ? { ...values, lost } : values
}

/** Positive is better; a pair without a base is void, a candidate without a value has lost it. */
export function computeDifferences(pairs: readonly MetricPair[], measure: MetricMeasure): Difference[] {
  return pairs.flatMap(({ base, candidate }): Difference[] => {
    if (base === null) return []
    return [candidate === null ? null : computeSignedDifference(measure, base, candidate)]
  })
}

export function hasLogarithms(pairs: readonly MetricPair[]): boolean {
  return pairs.every(({ base, candidate }) => (base ?? 1) > 0 && (candidate ?? 1) > 0)
}

/** The median of the base's values, without its sign: the reference for shares. */
export function computeTypicalBase(pairs: readonly MetricPair[]): number {
  const sizes = pairs.flatMap(({ base }) => (base === null ? [] : [Math.abs(base)]))
  const values = sizes.toSorted((a, b) => a - b)
  return values[values.length >> 1] ?? 0
}
