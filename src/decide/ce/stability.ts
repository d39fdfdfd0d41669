import type { Snapshot } from '../../model/report.ts'
import type { Spec } from '../../spec/schema.ts'
import {
  computeSignedDelta,
  formatConstraint,
  isConstraintMet,
  isGatePassed,
  listConstraintValues,
  listObjectives,
  lookUpMetric,
  type MetricReading,
  type Objective,
} from '../metrics.ts'
import { isTargetReached } from '../stop-rules.ts'
import { type DecidingTie, findDecidingTie } from '../tie-breakers.ts'
import { formatMetricChange } from '../wording.ts'
import {
  compareMetric,
  compareStoredTie,
  type Comparison,
  computeRankScore,
  type Thresholds,
} from './comparison.ts'

type MetricSpec = Pick<Spec['metric'], 'primary' | 'objectives' | 'degenerate_gates' | 'constraints'> & {
  judge: Pick<NonNullable<Spec['metric']['judge']>, 'minimum_improvement'> | null
}

export type StabilityPayload = {
  spec: {
    metric: MetricSpec
    policy: Pick<Spec['policy'], 'tie_breakers'>
    measurement: { stability: StabilitySpec }
  }
  baseline: Snapshot
  candidate: Snapshot
}

export type StabilityDecision = {
  decision: 'keep' | 'promising' | 'revert' | 'inconclusive' | 'censored' | 'degenerate' | 'error'
  eligible: boolean
  next_measurement: NextMeasurement
  target_reached: boolean
  improved_objectives: string[]
  violated_objectives: string[]
  /** The tie-breaker that kept the candidate. */
  tie_breaker: string | null
  comparisons: Record<string, Comparison>
  primary_delta: number | null
  rank_score: number
  reason: string
}

type JudgedObjective = {
  objective: Objective
  base: MetricReading
  candidate: MetricReading
  comparison: Comparison
}

export type StabilitySpec = NonNullable<Spec['measurement']['stability']>

type FutilityInput = { base: number; candidate: number; samples: number; elapsedSeconds: number | null }

export type NextMeasurement = 'none' | 'smoke' | 'exploratory' | 'add_sample' | 'confirm'

/** Sample counts at which a ladder stops exploring, asks for confirmation, and confirms. */
export type LadderRungs = { exploratory: number; confirmation: number; smoke: boolean }

// Decision

/** Failures of the candidate itself come before any comparison (invariant 5). */
export function decideStability(payload: StabilityPayload): StabilityDecision {
  const stopped = findDegenerate(payload)
  if (stopped !== null) return stopped
  const objectives = listObjectives(payload.spec.metric)
  const { judged, missing } = compareObjectives(payload, objectives)
  const comparisons = Object.fromEntries(judged.map(entry => [entry.objective.name, entry.comparison]))
  const primary = judged[0]
  if (missing.length > 0 || primary === undefined) {
    return createClosedDecision('error', `missing required metric: ${missing.join(', ')}`, { comparisons })
  }
  return weighObjectives(payload, judged, primary, comparisons)
}

function findDegenerate({ spec, candidate }: StabilityPayload): StabilityDecision | null {
  if (candidate.smoke_passed === false)
    return createClosedDecision('degenerate', 'the smoke command failed', {})
  const values = candidate.gates ?? {}
  const gates = spec.metric.degenerate_gates
    .filter(({ name, check }) => !isGatePassed(Object.hasOwn(values, name) ? values[name] : undefined, check))
    .map(({ name }) => name)
  if (gates.length > 0) {
    const reason = `gate failed: ${gates.join(', ')}`
    return createClosedDecision('degenerate', reason, { violated_objectives: gates })
  }
  const broken = spec.metric.constraints.filter(
    constraint =>
      !listConstraintValues(candidate, constraint.metric).every(value => isConstraintMet(constraint, value)),
  )
  if (broken.length === 0) return null
  const reason = `constraint not met: ${broken.map(formatConstraint).join(', ')}`
  return createClosedDecision('degenerate', reason, {
    violated_objectives: broken.map(constraint => constraint.metric),
  })
}

function createClosedDecision(
  decision: 'degenerate' | 'error' | 'censored',
  reason: string,
  kept: Partial<StabilityDecision>,
): StabilityDecision {
  return {
    decision,
    eligible: false,
    next_measurement: 'none',
    target_reached: false,
    improved_objectives: [],
    violated_objectives: [],
    tie_breaker: null,
    comparisons: {},
    primary_delta: null,
    rank_score: 0,
    ...kept,
    reason,
  }
}

function compareObjectives(payload: StabilityPayload, objectives: readonly Objective[]) {
  const { spec, baseline, candidate } = payload
  const thresholds = getThresholds(spec)
  const judged: JudgedObjective[] = []
  const missing: string[] = []
  for (const objective of objectives) {
    const by = { judged: objective.judged, aggregation: spec.measurement.stability.aggregation }
    const before = lookUpMetric(baseline, objective.name, by)
    const after = lookUpMetric(candidate, objective.name, by)
    const comparison = before && after && compareMetric(objective, before, after, thresholds)
    if (comparison) judged.push({ objective, base: before, candidate: after, comparison })
    else missing.push(objective.name)
  }
  return { judged, missing }
}

/** Without a judge the worth of a judged improvement is unknown: none is large enough. */
function getThresholds({ metric, measurement: { stability } }: StabilityPayload['spec']): Thresholds {
  return {
    method: stability.comparison.method,
    noise: stability.noise_threshold,
    relative: stability.comparison.relative_threshold,
    minimumImprovement: metric.judge?.minimum_improvement ?? Number.POSITIVE_INFINITY,
  }
}

function weighObjectives(
  payload: StabilityPayload,
  judged: readonly JudgedObjective[],
  primary: JudgedObjective,
  comparisons: Record<string, Comparison>,
): StabilityDecision {
  const { spec, candidate } = payload
  const { stability } = spec.measurement
  const required = judged.filter(entry => entry.objective.role === 'required')
  const improved = required.filter(entry => entry.comparison.verdict === 'improved')
  const lists = {
    improved_objectives: listNames(improved),
    violated_objectives: listNames(judged.filter(entry => entry.comparison.violated)),
    comparisons,
    primary_delta: primary.comparison.delta,
  }
  const contending = required.some(entry => entry.comparison.verdict === 'inconclusive')
  const tie = improved.length === 0 ? findStoredTie(payload, primary) : null
  const isGain = improved.length > 0 || tie?.is === 'better'
  const eligible = isGain && lists.violated_objectives.length === 0
  const samples = countSamples(required, candidate)
  const elapsedSeconds = candidate.elapsed_seconds ?? null
  const measured = { base: primary.base.value, candidate: primary.candidate.value, samples, elapsedSeconds }
  if (!eligible && !contending && isFutile(stability, primary.objective, measured)) {
    return createClosedDecision('censored', 'too far behind for more measurements', lists)
  }
  const lost = lists.violated_objectives.length > 0 || !contending
  const verdict = eligible ? 'keep' : lost ? 'revert' : 'inconclusive'
  const step = computeLadderStep(getRungs(stability), verdict, samples, candidate.smoke_passed ?? null)
  const values = new Map(judged.map(entry => [entry.objective.name, entry.candidate.value]))
  return {
    decision: step.decision,
    eligible,
    next_measurement: step.next,
    target_reached: isTargetReached(
      judged.map(entry => entry.objective),
      ({ name }) => values.get(name),
    ),
    ...lists,
    tie_breaker: eligible ? (tie?.name ?? null) : null,
    rank_score: computeRankScore(
      primary.comparison,
      improved.map(entry => entry.comparison),
    ),
    reason: formatDecisionReason(verdict, lists, tie),
  }
}

function listNames(judged: readonly JudgedObjective[]): string[] {
  return judged.map(entry => entry.objective.name)
}

function countSamples(required: readonly JudgedObjective[], snapshot: Snapshot): number {
  const declared = snapshot.sample_count ?? 1
  const fallback = Number.isInteger(declared) && declared >= 1 ? declared : 1
  return Math.min(...required.map(entry => entry.candidate.samples.length || fallback))
}

/** Whether the futility bound, declared before the measurement, allows to stop measuring a loser. */
function isFutile(stability: StabilitySpec, primary: Objective, measured: FutilityInput): boolean {
  const futility = stability.mode === 'ladder' ? stability.ladder?.futility : null
  if (futility === null || futility === undefined) return false
  const { base, candidate, samples, elapsedSeconds } = measured
  const late =
    futility.after_elapsed_seconds !== null &&
    elapsedSeconds !== null &&
    elapsedSeconds >= futility.after_elapsed_seconds
  if (late && computeSignedDelta(base, candidate, primary.direction) <= 0) return true
  const exploring = samples <= (stability.ladder?.exploratory_pairs ?? 1)
  return exploring && isHopeless(primary, measured, futility.worse_factor)
}

/** The primary is at least `factor` times worse. Always false for bases that are not positive. */
function isHopeless(primary: Objective, measured: FutilityInput, factor: number): boolean {
  if (!(factor > 1) || !(measured.base > 0)) return false
  const bound = primary.direction === 'minimize' ? measured.base * factor : measured.base / factor
  return computeSignedDelta(bound, measured.candidate, primary.direction) <= 0
}

type LadderStep = { decision: 'keep' | 'promising' | 'inconclusive' | 'revert'; next: NextMeasurement }

/** A keep that has not been confirmed is only promising. */
function computeLadderStep(
  rungs: LadderRungs | null,
  decision: 'keep' | 'inconclusive' | 'revert',
  samples: number,
  smokePassed: boolean | null,
): LadderStep {
  if (rungs === null) return { decision, next: 'none' }
  if (rungs.smoke && smokePassed === null) return { decision, next: 'smoke' }
  if (decision === 'revert') return { decision, next: 'none' }
  const keeping = decision === 'keep'
  const budget = keeping ? rungs.confirmation : Math.min(rungs.exploratory + 1, rungs.confirmation)
  if (samples >= budget) return { decision, next: 'none' }
  const above = keeping ? 'confirm' : 'add_sample'
  const next = samples < rungs.exploratory ? 'exploratory' : above
  return { decision: keeping ? 'promising' : decision, next }
}

function formatDecisionReason(
  decision: 'keep' | 'revert' | 'inconclusive',
  {
    improved_objectives: improved,
    violated_objectives: violated,
  }: Pick<StabilityDecision, 'improved_objectives' | 'violated_objectives'>,
  tie: StoredTie | null,
) {
  if (decision === 'keep' && tie === null)
    return `improved ${improved.join(', ')}, nothing required got worse`
  if (decision !== 'revert') {
    const within = 'the difference is within the comparison threshold'
    return tie === null ? within : `${within}, and tie-breaker ${tie.change} is ${tie.is}`
  }
  if (violated.length > 0) return `worse than allowed: ${violated.join(', ')}`
  return 'no required objective improved'
}

// Tie-breakers

type StoredTie = DecidingTie & { change: string }

/** Null unless the primary is as good as the stored one, and a tie-breaker is not. */
function findStoredTie(payload: StabilityPayload, primary: JudgedObjective): StoredTie | null {
  const { spec, baseline, candidate } = payload
  const rules = getThresholds(spec)
  if (!isTied(primary, rules)) return null
  const { aggregation } = spec.measurement.stability
  const read = (snapshot: Snapshot, name: string) =>
    lookUpMetric(snapshot, name, { judged: false, aggregation })
  const decided = findDecidingTie(spec.policy, tie =>
    compareStoredTie(tie, read(baseline, tie.name), read(candidate, tie.name), rules),
  )
  if (decided === null) return null
  const [before, after] = [read(baseline, decided.name), read(candidate, decided.name)]
  const change = before && after ? formatMetricChange(decided.name, before.value, after.value) : decided.name
  return { ...decided, change }
}

/** Some comparisons are inconclusive although the primary lost: samples that disagree, and shares of 0. */
function isTied({ objective, base, comparison }: JudgedObjective, rules: Thresholds): boolean {
  const share = rules.relative * Math.abs(base.value)
  const own = objective.judged ? rules.minimumImprovement : rules.noise
  const allowed = rules.method === 'absolute' ? own : share
  return comparison.verdict === 'inconclusive' && Number.isFinite(allowed) && -comparison.delta <= allowed
}

export function getRungs(stability: StabilitySpec): LadderRungs | null {
  if (stability.mode !== 'ladder') return null
  const exploratory = stability.ladder?.exploratory_pairs ?? 1
  const confirmation = stability.ladder?.confirmation_repeats ?? stability.repeat_count
  return {
    exploratory,
    confirmation: Math.max(confirmation, exploratory),
    smoke: typeof stability.ladder?.smoke_command === 'string',
  }
}
