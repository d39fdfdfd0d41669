import type { PairJob, Pair } from '../../model/pairs.ts'
import { computeSignedDifference } from '../evidence/difference.ts'
import { computeLnTotal } from '../evidence/keep-side.ts'
import { toEvidence } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { listObjectives } from '../objectives.ts'
import { collectMetricPairs } from './metric-pairs.ts'
import { computeObjectiveEvidence } from './objective-evidence.ts'
import type { PairedCase } from './rule.ts'

/** One pair of the primary, and where the evidence stands after it. */
export interface PathPair {
  first: Pair['first']
  base: number | null
  candidate: number | null
  /** The run was interrupted after this pair had begun. */
  lost?: true
  /** Positive is better; null where a side failed. */
  difference: number | null
  /** E_total after it. */
  evidence: number
}

export interface PathJob {
  order: string
  runner: string
  /** It ran after the screen, on a runner that had no part in it: only such a job can confirm. */
  fresh: boolean
  /** The run was lost with all its results. */
  unreported: boolean
  /** In this job the evidence passed the screen. */
  screened: boolean
  pairs: PathPair[]
}

/** The evidence after every single pair, by the rule that judged it, for people who want to see it grow. */
export function traceEvidence(paired: PairedCase): PathJob[] {
  const { jobs, rule } = paired
  const screen = findScreeningJob(paired)
  return jobs.map((job, at) => ({
    order: job.order,
    runner: job.runner,
    fresh: screen !== null && at > screen && (rule.single_machine || job.runner !== jobs[screen]?.runner),
    unreported: job.unreported === true,
    screened: screen === at,
    pairs: tracePairs(paired, at, job),
  }))
}

function computePrimaryEvidence(paired: PairedCase): EvidenceState {
  return computeObjectiveEvidence(paired, listObjectives(paired.spec.metric)[0])
}

/** The job of the list that screened; void jobs before it have no place in the evidence. */
function findScreeningJob(paired: PairedCase): number | null {
  const { screened, jobs } = computePrimaryEvidence(paired)
  const id = screened === null ? undefined : jobs[screened.job]?.id
  const at = paired.jobs.findIndex(({ order }) => order === id)
  return at === -1 ? null : at
}

function tracePairs(paired: PairedCase, at: number, job: PairJob): PathPair[] {
  const { spec, rule, jobs } = paired
  const [{ name, direction }] = listObjectives(spec.metric)
  const measure = { direction, scale: rule.scale }
  return collectMetricPairs([job], name).map(({ base, candidate, lost }, index) => {
    const pairs = job.pairs.slice(0, index + 1)
    const soFar = { ...job, pairs, complete: job.complete && pairs.length === job.pairs.length }
    const state = computePrimaryEvidence({ ...paired, jobs: [...jobs.slice(0, at), soFar] })
    return {
      first: job.pairs[index]?.first ?? 'base',
      base,
      candidate,
      ...(lost ? { lost } : {}),
      difference:
        base === null || candidate === null ? null : computeSignedDifference(measure, base, candidate),
      evidence: toEvidence(computeLnTotal(state)),
    }
  })
}
