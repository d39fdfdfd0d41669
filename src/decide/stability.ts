import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { type Comparison, compare, type Thresholds } from './comparison.ts'
import { isFutile } from './futility.ts'
import { constraintHolds, constraintText, failedGates } from './gates.ts'
import { climb, type NextMeasurement, rungsOf, type Stability } from './ladder.ts'
import { constraintValues, lookUp, type Reading } from './lookup.ts'
import { type Objective, objectivesOf } from './objectives.ts'
import { targetReached } from './targets.ts'

type MetricSpec = Pick<Spec['metric'], 'primary' | 'objectives' | 'degenerate_gates' | 'constraints'> & {
  judge: Pick<NonNullable<Spec['metric']['judge']>, 'minimum_improvement'> | null
}
export type StabilityPayload = {
  spec: { metric: MetricSpec; measurement: { stability: Stability } }
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

function closed(
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

function degenerate({ spec, candidate }: StabilityPayload): StabilityDecision | null {
  if (candidate.smoke_passed === false) return closed('degenerate', 'the smoke command failed', {})
  const gates = failedGates(spec.metric.degenerate_gates, candidate.gates ?? {})
  if (gates.length > 0) {
    const reason = `gate failed: ${gates.join(', ')}`
    return closed('degenerate', reason, { violated_objectives: gates })
  }
  const broken = spec.metric.constraints.filter(
    constraint =>
      !constraintValues(candidate, constraint.metric).every(value => constraintHolds(constraint, value)),
  )
  if (broken.length === 0) return null
  const reason = `constraint not met: ${broken.map(constraintText).join(', ')}`
  return closed('degenerate', reason, { violated_objectives: broken.map(constraint => constraint.metric) })
}

function lookUpBy(spec: StabilityPayload['spec'], judged: boolean) {
  return { judged, aggregation: spec.measurement.stability.aggregation }
}

/** Without a judge nobody can say what a judged improvement is worth: none is large enough. */
function thresholdsOf({ metric, measurement: { stability } }: StabilityPayload['spec']): Thresholds {
  return {
    method: stability.comparison.method,
    noise: stability.noise_threshold,
    relative: stability.comparison.relative_threshold,
    minimumImprovement: metric.judge?.minimum_improvement ?? Number.POSITIVE_INFINITY,
  }
}

type Judged = { objective: Objective; base: Reading; candidate: Reading; comparison: Comparison }

/** Each objective with both sides' numbers, or the names of those that lack one. */
function judge(payload: StabilityPayload, objectives: readonly Objective[]) {
  const { spec, baseline, candidate } = payload
  const thresholds = thresholdsOf(spec)
  const judged: Judged[] = []
  const missing: string[] = []
  for (const objective of objectives) {
    const by = lookUpBy(spec, objective.judged)
    const ours = lookUp(baseline, objective.name, by)
    const theirs = lookUp(candidate, objective.name, by)
    const comparison = ours !== null && theirs !== null ? compare(objective, ours, theirs, thresholds) : null
    if (ours === null || theirs === null || comparison === null) missing.push(objective.name)
    else judged.push({ objective, base: ours, candidate: theirs, comparison })
  }
  return { judged, missing }
}

function sampleCount(required: readonly Judged[], snapshot: Snapshot): number {
  const declared = snapshot.sample_count ?? 1
  const fallback = Number.isInteger(declared) && declared >= 1 ? declared : 1
  return Math.min(...required.map(entry => entry.candidate.samples.length || fallback))
}

/** The primary's relative gain if it improved, else the best among those that did, else the primary's. */
export function rankScore(primary: Comparison, improved: readonly Comparison[]): number {
  if (primary.verdict === 'improved' || improved.length === 0) return primary.relative
  return Math.max(...improved.map(comparison => comparison.relative))
}

function names(judged: readonly Judged[]): string[] {
  return judged.map(entry => entry.objective.name)
}

function reasonFor(decision: 'keep' | 'revert' | 'inconclusive', improved: string[], violated: string[]) {
  if (decision === 'keep') return `improved ${improved.join(', ')}, nothing required got worse`
  if (decision === 'inconclusive') return 'the difference is within the comparison threshold'
  if (violated.length > 0) return `worse than allowed: ${violated.join(', ')}`
  return 'no required objective improved'
}

/** Everything that is wrong in itself comes before any comparison (invariant 5). */
export function decideStability(payload: StabilityPayload): StabilityDecision {
  const stopped = degenerate(payload)
  if (stopped !== null) return stopped
  const objectives = objectivesOf(payload.spec.metric)
  const { judged, missing } = judge(payload, objectives)
  const comparisons = Object.fromEntries(judged.map(entry => [entry.objective.name, entry.comparison]))
  const primary = judged[0]
  if (missing.length > 0 || primary === undefined) {
    return closed('error', `missing required metric: ${missing.join(', ')}`, { comparisons })
  }
  return weigh(payload, judged, primary, comparisons)
}

function weigh(
  { spec, candidate }: StabilityPayload,
  judged: readonly Judged[],
  primary: Judged,
  comparisons: Record<string, Comparison>,
): StabilityDecision {
  const { stability } = spec.measurement
  const required = judged.filter(entry => entry.objective.role === 'required')
  const improved = required.filter(entry => entry.comparison.verdict === 'improved')
  const lists = {
    improved_objectives: names(improved),
    violated_objectives: names(judged.filter(entry => entry.comparison.violated)),
    comparisons,
    primary_delta: primary.comparison.delta,
  }
  const contending = required.some(entry => entry.comparison.verdict === 'inconclusive')
  const eligible = improved.length > 0 && lists.violated_objectives.length === 0
  const samples = sampleCount(required, candidate)
  const elapsedSeconds = candidate.elapsed_seconds ?? null
  const standing = { base: primary.base.value, candidate: primary.candidate.value, samples, elapsedSeconds }
  if (!eligible && !contending && isFutile(stability, primary.objective, standing)) {
    return closed('censored', 'too far behind to be worth more measurements', lists)
  }
  const lost = lists.violated_objectives.length > 0 || !contending
  const undecided = lost ? 'revert' : 'inconclusive'
  const verdict = eligible ? 'keep' : undecided
  const step = climb(rungsOf(stability), verdict, samples, candidate.smoke_passed ?? null)
  const values = new Map(judged.map(entry => [entry.objective.name, entry.candidate.value]))
  return {
    decision: step.decision,
    eligible,
    next_measurement: step.next,
    target_reached: targetReached(
      judged.map(entry => entry.objective),
      ({ name }) => values.get(name),
    ),
    ...lists,
    rank_score: rankScore(
      primary.comparison,
      improved.map(entry => entry.comparison),
    ),
    reason: reasonFor(verdict, lists.improved_objectives, lists.violated_objectives),
  }
}
