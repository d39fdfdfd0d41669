import { type Pair, type PairJob, selectReportedJobs } from '../../model/pairs.ts'
import { isJudgedMetric } from '../../spec/spec-facts.ts'
import { computeStateEffect, computeUpperBound } from '../evidence/interval.ts'
import { computeLnTotal } from '../evidence/observe.ts'
import { computeLnEvidence, toEvidence } from '../evidence/rank-test.ts'
import { computeEvidenceVerdict, type EvidenceReason, type EvidenceVerdict } from '../evidence/rules.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { listObjectives } from '../metrics.ts'
import { joinFirst } from '../../model/text.ts'
import { formatCount, formatNumber } from '../wording.ts'
import { describeEffect, formatEffect, renderEvidenceBar, toShare } from './effect-text.ts'
import {
  collectMetricPairs,
  computeDifferences,
  computeObjectiveEvidence,
  hasNoItemsLeft,
  listPairedTasks,
  type PairedCase,
  type PairsEvaluation,
} from './evaluate.ts'
import { describeCheck, describeMean } from './mean-text.ts'

const NAMES_SHOWN = 3

type DecidingParts = Pick<PairsEvaluation, 'primary' | 'improved' | 'promising' | 'check'>

export interface PathPair {
  first: Pair['first']
  base: number | null
  candidate: number | null
  lost?: true
  task?: string
  /** Positive is better; null where a side failed. */
  difference: number | null
  evidence: number
}

export interface PathJob {
  order: string
  runner: string
  /** Ran after the screen, on a runner that had no part in it: only such a job can confirm. */
  fresh: boolean
  unreported: boolean
  screened: boolean
  pairs: PathPair[]
}

// The sentence

/** The text after the verdict: the effect, its interval, and why measuring ended (docs/deciding.md, What you read). */
export function renderEvidenceSentence(paired: PairedCase, evaluation: PairsEvaluation): string {
  const verdict = computeEvidenceVerdict(evaluation.primary)
  const none = describeNoDifference(paired, evaluation, verdict)
  if (none !== null) return `${none}.`
  const effect = renderEffectPhrase(paired, evaluation, verdict.effect)
  const why = renderQualifier(paired, evaluation, verdict)
  if (effect === null || why === null) return `${effect ?? why ?? 'nothing was measured'}.`
  return `${effect}${why.startsWith('but ') ? ',' : ';'} ${why}.`
}

/**
 * Set where a gain and a loss worth noticing are both outside the interval: "score differs by less than 2 %
 * (0.1 % higher, …)".
 */
function describeNoDifference(
  paired: PairedCase,
  { primary, harmed }: PairsEvaluation,
  { reason, effect }: EvidenceVerdict,
): string | null {
  const { interval } = computeStateEffect(primary)
  if (reason !== 'gain-ruled-out' || effect === null || interval === null || harmed.length > 0) return null
  const { rule, spec } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  if (interval[0] <= -rule.min_effect || interval[1] >= rule.min_effect) return null
  const measured = { name, direction, scale: rule.scale }
  const { size, word, range, unit } = describeEffect(effect, interval, measured)
  const between = range === null ? '' : `, ${range[0]} to ${range[1]}${unit}`
  return `${name} differs by less than ${formatLeastGain(paired)} (${size}${unit} ${word}${between})`
}

/** The smallest gain worth having, or a multiple of it: "2 %", "0.5". */
function formatLeastGain({ rule: { min_effect, scale }, spec }: PairedCase, times = 1): string {
  const [{ direction }] = listObjectives(spec.metric)
  if (scale === 'linear') return formatNumber(times * min_effect)
  return `${Number((Math.abs(toShare(times * min_effect, direction)) * 100).toFixed(1))} %`
}

/** Omits "probably" only for a kept change or shown harm; adds "so far" while more pairs may follow. */
function renderEffectPhrase(
  paired: PairedCase,
  evaluation: PairsEvaluation,
  effect: number | null,
): string | null {
  if (effect === null) return null
  const { spec, rule } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  const { differences, rule: terms } = evaluation.primary
  const { interval } = computeStateEffect(evaluation.primary)
  const { status, harmed } = evaluation
  const harm = harmed.includes(name)
  // Harm is proven on one side; the two-sided interval is wider, and with a gain in it would contradict the
  // verdict.
  const contradicts = harm && interval !== null && interval[1] >= 0
  const oneSided = (contradicts || (interval === null && status === 'drop')) && !terms.graded
  const upper = oneSided ? computeUpperBound(differences) : null
  const certain = (status === 'keep' && evaluation.tie === null) || harm
  const open = status === 'new-job' || status === 'continue'
  const text = formatEffect(
    effect,
    contradicts && upper !== null ? null : interval,
    { name, direction, scale: rule.scale },
    { probably: !certain, upper },
  )
  const machine = status === 'keep' && rule.single_machine ? ', on this machine' : ''
  return `${text}${open ? ' so far' : ''}${machine}`
}

function renderQualifier(
  paired: PairedCase,
  evaluation: PairsEvaluation,
  { reason }: EvidenceVerdict,
): string | null {
  const { status, harmed, open, tie, improved, promising } = evaluation
  const [{ name }] = listObjectives(paired.spec.metric)
  const others = harmed.filter(each => each !== name)
  if (others.length > 0) return `${joinFirst(others, NAMES_SHOWN)} proven worse`
  if (harmed.length > 0) return null
  if (promising !== null)
    return `${promising} is promising${status === 'not-proven' ? `, ${describeNotEnough(paired)}` : ''}`
  if (tie !== null) return `${tie} is better (tie-breaker)`
  const check = describeCheck(paired, evaluation)
  if (check !== null) return check
  if (status === 'keep') return explainKeep(paired, improved)
  if (status === 'not-proven' && hasNoItemsLeft(paired)) return 'every item was scored before'
  if (improved.length > 0 && open.length > 0) return `${joinFirst(open, NAMES_SHOWN)} not proven harmless yet`
  return explainEnd(paired, reason)
}

function describeNotEnough({ spec, rule, jobs: known }: PairedCase): string {
  const jobs = selectReportedJobs(known)
  const what = isJudgedMetric(spec) ? 'item' : rule.by_task === true ? 'pair' : 'run'
  const effort = formatCount(what === 'run' ? countExecutions(jobs) : countPairs(jobs), what)
  return `but ${effort} were not enough to be sure`
}

function countPairs(jobs: PairedCase['jobs']): number {
  return jobs.flatMap(({ pairs }) => pairs).filter(({ base }) => base !== null).length
}

function countExecutions(jobs: PairedCase['jobs']): number {
  return 2 * (jobs.flatMap(({ pairs }) => pairs).length + jobs.length)
}

function explainKeep({ rule, terms, spec }: PairedCase, improved: readonly string[]): string | null {
  const [{ name, direction }] = listObjectives(spec.metric)
  if (terms.as === 'simplify') {
    const { scale, min_effect: least } = rule
    const share = Math.abs(toShare(least, direction)) * 100
    return `simpler, and proven to cost less than ${scale === 'log' ? `${share.toFixed(1)} %` : formatNumber(least)}`
  }
  return improved.includes(name) ? null : `${improved.join(', ')} proven better`
}

/** Why measuring ended; null where the numbers show it. */
function explainEnd(paired: PairedCase, reason: EvidenceReason): string | null {
  switch (reason) {
    case 'broken':
      return 'two of its executions failed'
    case 'gain-ruled-out':
      return `a gain of ${formatLeastGain(paired)} or more is ruled out`
    case 'large-gain-ruled-out':
      return `stopped early: a gain of ${formatLeastGain(paired, 2)} or more is ruled out`
    case 'large-change-ruled-out':
      return `stopped: a difference of ${formatLeastGain(paired, 2)} or more is ruled out either way`
    case 'gain-unlikely':
      return `stopped early: a gain of ${formatLeastGain(paired)} or more is unlikely`
    case 'no-promise-after-job-1':
      return 'stopped early: a gain looks unlikely after the first job'
    case 'no-promise-after-job-2':
      return 'stopped early: a gain looks unlikely after the second job'
    case 'jobs-used-up':
      return describeNotEnough(paired)
    case 'gain-shown':
    case 'harm-shown':
    case 'not-begun':
    case 'measuring':
    case 'promising':
    case 'job-ended':
      return null
    default:
      return reason satisfies never
  }
}

// The evidence line

/** The two may be close to each other, and are passed one after the other (docs/deciding.md). */
const NEEDED_TO = { screening: 'to measure more', confirming: 'to be sure' } as const

/** A pure function of pairs and terms, so that `replay` renders the identical line. */
export function renderEvidenceLine(
  paired: PairedCase,
  evaluation: DecidingParts,
  cost: 'executions' | 'pairs' = 'executions',
): string {
  const other = findDecidingObjective(paired, evaluation)
  const { evidence, threshold, stage } = weighEvidence(paired, other?.state ?? evaluation.primary)
  const about = other === null ? '' : ` for ${other.name}`
  const bar = renderEvidenceBar(evidence, threshold, 20)
  const mean = describeMean(paired, evaluation)
  const line = `evidence ${formatEvidence(evidence)}${about} (needed ${NEEDED_TO[stage]}: ${formatEvidence(threshold)}) ▕${bar}▏ ${formatCost(paired, cost)}`
  return mean === null ? line : `${line}; ${mean}`
}

function findDecidingObjective(
  paired: PairedCase,
  { improved, promising }: DecidingParts,
): { name: string; state: EvidenceState } | null {
  const [primary, ...others] = listObjectives(paired.spec.metric)
  const name = improved.includes(primary.name) ? undefined : (improved[0] ?? promising)
  const objective = others.find(each => each.name === name)
  return objective ? { name: objective.name, state: computeObjectiveEvidence(paired, objective) } : null
}

/** Evidence that a simplification is harmless enough. */
const HARMLESS_EVIDENCE = 20

function weighEvidence(
  { terms, rule }: PairedCase,
  state: EvidenceState,
): Pick<EvidenceVerdict, 'evidence' | 'threshold' | 'stage'> {
  if (terms.as !== 'simplify') return computeEvidenceVerdict(state)
  return {
    evidence: toEvidence(computeLnEvidence(state.differences, -rule.min_effect)),
    threshold: HARMLESS_EVIDENCE,
    stage: 'confirming',
  }
}

/**
 * Two warm-ups a job cost executions too, and so does a void pair. `pairs`: a comparison prints its real number
 * of executions itself, half a pair and repeated jobs included.
 */
function formatCost(paired: PairedCase, cost: 'executions' | 'pairs'): string {
  const jobs = selectReportedJobs(paired.jobs)
  const pairs = countPairs(jobs)
  const runners = new Set(listRunners(jobs)).size
  const where = paired.rule.single_machine ? 'on this machine' : `on ${formatCount(runners, 'runner')}`
  if (isJudgedMetric(paired.spec)) {
    const [items, samples] = [formatCount(pairs, 'item'), formatCount(jobs.length, 'sample')]
    return paired.two_samples
      ? `${items} of each side in ${samples}, matched at random because their ids differ`
      : `${items} in ${samples}, each scored on both sides`
  }
  const tasks = listPairedTasks(jobs).length
  const ofTasks = paired.rule.by_task === true ? ` of ${formatCount(tasks, 'task')}` : ''
  const text = `${formatCount(pairs, 'pair')}${ofTasks} in ${formatCount(jobs.length, 'job')} ${where}`
  if (paired.rule.by_task === true) return text
  return cost === 'pairs' ? text : `${text}, ${formatCount(countExecutions(jobs), 'execution')}`
}

function listRunners(jobs: readonly PairJob[]): string[] {
  return jobs.flatMap(({ runner, also_on = [] }) => [runner, ...also_on])
}

/** Short enough to read, precise enough to compare with the threshold. */
export function formatEvidence(value: number): string {
  if (value >= 1e6 || (value > 0 && value < 1e-4)) return value.toExponential(1)
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)))
}

// Evidence after every pair

/** The evidence after every single pair, by the rule that judged it, for people who want to see it grow. */
export function traceEvidence(paired: PairedCase): PathJob[] {
  const { jobs, rule } = paired
  const screen = findScreeningJob(paired)
  const screeners = new Set(listRunners(jobs.filter((_, at) => at === screen)))
  const isOther = (job: PairJob) => listRunners([job]).some(runner => !screeners.has(runner))
  return jobs.map((job, at) => ({
    order: job.order,
    runner: job.runner,
    fresh: screen !== null && at > screen && (rule.single_machine || isOther(job)),
    unreported: job.unreported === true,
    screened: screen === at,
    pairs: tracePairs(paired, at, job),
  }))
}

/** Index in the list of jobs: void jobs before the one that screened are not in the evidence. */
function findScreeningJob(paired: PairedCase): number | null {
  const { screened, jobs } = computePrimaryEvidence(paired)
  const id = screened === null ? undefined : jobs[screened.job]?.id
  const at = paired.jobs.findIndex(({ order }) => order === id)
  return at === -1 ? null : at
}

function computePrimaryEvidence(paired: PairedCase): EvidenceState {
  return computeObjectiveEvidence(paired, listObjectives(paired.spec.metric)[0])
}

function tracePairs(paired: PairedCase, at: number, job: PairJob): PathPair[] {
  const { spec, rule, jobs } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  const measure = { direction, scale: rule.scale }
  return collectMetricPairs([job], name).map(({ base, candidate, lost }, index) => {
    const pairs = job.pairs.slice(0, index + 1)
    const soFar = { ...job, pairs, complete: job.complete && pairs.length === job.pairs.length }
    const state = computePrimaryEvidence({ ...paired, jobs: [...jobs.slice(0, at), soFar] })
    const task = job.pairs[index]?.task
    return {
      first: job.pairs[index]?.first ?? 'base',
      base,
      candidate,
      ...(lost ? { lost } : {}),
      ...(task === undefined ? {} : { task }),
      difference: computeDifferences([{ base, candidate }], measure)[0] ?? null,
      evidence: toEvidence(computeLnTotal(state)),
    }
  })
}
