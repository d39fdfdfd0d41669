import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { type Comparison, compareMetric, type Thresholds } from './comparison.ts'
import { isFutile } from './futility.ts'
import { isConstraintMet, formatConstraint, listFailedGates } from './gates.ts'
import { computeLadderStep, type NextMeasurement, getRungs, type StabilitySpec } from './ladder.ts'
import { listConstraintValues, lookUpMetric, type MetricReading } from './lookup.ts'
import { type Objective, listObjectives } from './objectives.ts'
import { isTargetReached } from './targets.ts'

type MetricSpec = Pick<Spec['metric'], 'primary' | 'objectives' | 'degenerate_gates' | 'constraints'> & {
  judge: Pick<NonNullable<Spec['metric']['judge']>, 'minimum_improvement'> | null
}
export type StabilityPayload = {
  spec: { metric: MetricSpec; measurement: { stability: StabilitySpec } }
  baseline: Snapshot
  candidate: Snapshot
}

/** What `winnow decide` prints. */
export type StabilityDecision = {
  decision: 'keep' | 'promising' | 'revert' | 'inconclusive' | 'censored' | 'degenerate' | 'error'
  eligible: boolean
  next_measurement: NextMeasurement
  target_reached: boolean
  improved_objectives: string[]
  violated_objectives: string[]
  comparisons: Record<string, Comparison>
  primary_delta: number | null
  rank_score: number
  reason: string
}

function createClosedDecision(
  decision: 'degenerate' | 'error' | 'censored',
  reason: string,
  kept: Partial<
    Pick<StabilityDecision, 'improved_objectives' | 'violated_objectives' | 'comparisons' | 'primary_delta'>
  >,
): StabilityDecision {
  return {
    decision,
    eligible: false,
    next_measurement: 'none',
    target_reached: false,
    improved_objectives: [],
    violated_objectives: [],
    comparisons: {},
    primary_delta: null,
    rank_score: 0,
    ...kept,
    reason,
  }
}

function findDegenerate({ spec, candidate }: StabilityPayload): StabilityDecision | null {
  if (candidate.smoke_passed === false)
    return createClosedDecision('degenerate', 'the smoke command failed', {})
  const gates = listFailedGates(spec.metric.degenerate_gates, candidate.gates ?? {})
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

function buildLookUpOptions(spec: StabilityPayload['spec'], judged: boolean) {
  return { judged, aggregation: spec.measurement.stability.aggregation }
}

/** Without a judge nobody can say what a judged improvement is worth: none is large enough. */
function getThresholds({ metric, measurement: { stability } }: StabilityPayload['spec']): Thresholds {
  return {
    method: stability.comparison.method,
    noise: stability.noise_threshold,
    relative: stability.comparison.relative_threshold,
    minimumImprovement: metric.judge?.minimum_improvement ?? Number.POSITIVE_INFINITY,
  }
}

type JudgedObjective = {
  objective: Objective
  base: MetricReading
  candidate: MetricReading
  comparison: Comparison
}

/** Each objective with both sides' numbers, or the names of those that lack one. */
function compareObjectives(payload: StabilityPayload, objectives: readonly Objective[]) {
  const { spec, baseline, candidate } = payload
  const thresholds = getThresholds(spec)
  const judged: JudgedObjective[] = []
  const missing: string[] = []
  for (const objective of objectives) {
    const by = buildLookUpOptions(spec, objective.judged)
    const ours = lookUpMetric(baseline, objective.name, by)
    const theirs = lookUpMetric(candidate, objective.name, by)
    const comparison =
      ours !== null && theirs !== null ? compareMetric(objective, ours, theirs, thresholds) : null
    if (ours === null || theirs === null || comparison === null) missing.push(objective.name)
    else judged.push({ objective, base: ours, candidate: theirs, comparison })
  }
  return { judged, missing }
}

function countSamples(required: readonly JudgedObjective[], snapshot: Snapshot): number {
  const declared = snapshot.sample_count ?? 1
  const fallback = Number.isInteger(declared) && declared >= 1 ? declared : 1
  return Math.min(...required.map(entry => entry.candidate.samples.length || fallback))
}

/** The primary's relative gain if it improved, else the best among those that did, else the primary's. */
export function computeRankScore(primary: Comparison, improved: readonly Comparison[]): number {
  if (primary.verdict === 'improved' || improved.length === 0) return primary.relative
  return Math.max(...improved.map(comparison => comparison.relative))
}

function listNames(judged: readonly JudgedObjective[]): string[] {
  return judged.map(entry => entry.objective.name)
}

function formatDecisionReason(
  decision: 'keep' | 'revert' | 'inconclusive',
  improved: string[],
  violated: string[],
) {
  if (decision === 'keep') return `improved ${improved.join(', ')}, nothing required got worse`
  if (decision === 'inconclusive') return 'the difference is within the comparison threshold'
  if (violated.length > 0) return `worse than allowed: ${violated.join(', ')}`
  return 'no required objective improved'
}

/** Everything that is wrong in itself comes before any comparison (invariant 5). */
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

function weighObjectives(
  { spec, candidate }: StabilityPayload,
  judged: readonly JudgedObjective[],
  primary: JudgedObjective,
  comparisons: Record<string, Comparison>,
): StabilityDecision {
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
  const eligible = improved.length > 0 && lists.violated_objectives.length === 0
  const samples = countSamples(required, candidate)
  const elapsedSeconds = candidate.elapsed_seconds ?? null
  const standing = { base: primary.base.value, candidate: primary.candidate.value, samples, elapsedSeconds }
  if (!eligible && !contending && isFutile(stability, primary.objective, standing)) {
    return createClosedDecision('censored', 'too far behind to be worth more measurements', lists)
  }
  const lost = lists.violated_objectives.length > 0 || !contending
  const undecided = lost ? 'revert' : 'inconclusive'
  const verdict = eligible ? 'keep' : undecided
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
    rank_score: computeRankScore(
      primary.comparison,
      improved.map(entry => entry.comparison),
    ),
    reason: formatDecisionReason(verdict, lists.improved_objectives, lists.violated_objectives),
  }
}
