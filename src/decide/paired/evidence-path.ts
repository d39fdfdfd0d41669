import type { Job, Pair } from '../../model/pairs.ts'
import { signedDifference } from '../evidence/difference.ts'
import { lnTotal } from '../evidence/keep-side.ts'
import { evidenceOf } from '../evidence/rank-evidence.ts'
import type { EvidenceState } from '../evidence/state.ts'
import { objectivesOf } from '../objectives.ts'
import { metricPairs } from './metric-pairs.ts'
import { evidenceFor } from './objective-evidence.ts'
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
export function evidencePath(paired: PairedCase): PathJob[] {
  const { jobs, rule } = paired
  const screen = screenOf(paired)
  return jobs.map((job, at) => ({
    order: job.order,
    runner: job.runner,
    fresh: screen !== null && at > screen && (rule.single_machine || job.runner !== jobs[screen]?.runner),
    unreported: job.unreported === true,
    screened: screen === at,
    pairs: pairsOf(paired, at, job),
  }))
}

function primaryEvidence(paired: PairedCase): EvidenceState {
  return evidenceFor(paired, objectivesOf(paired.spec.metric)[0])
}

/** The job of the list that screened; void jobs before it have no place in the evidence. */
function screenOf(paired: PairedCase): number | null {
  const { screened, jobs } = primaryEvidence(paired)
  const id = screened === null ? undefined : jobs[screened.job]?.id
  const at = paired.jobs.findIndex(({ order }) => order === id)
  return at === -1 ? null : at
}

function pairsOf(paired: PairedCase, at: number, job: Job): PathPair[] {
  const { spec, rule, jobs } = paired
  const [{ name, direction }] = objectivesOf(spec.metric)
  const measure = { direction, scale: rule.scale }
  return metricPairs([job], name).map(({ base, candidate, lost }, index) => {
    const pairs = job.pairs.slice(0, index + 1)
    const soFar = { ...job, pairs, complete: job.complete && pairs.length === job.pairs.length }
    const state = primaryEvidence({ ...paired, jobs: [...jobs.slice(0, at), soFar] })
    return {
      first: job.pairs[index]?.first ?? 'base',
      base,
      candidate,
      ...(lost ? { lost } : {}),
      difference: base === null || candidate === null ? null : signedDifference(measure, base, candidate),
      evidence: evidenceOf(lnTotal(state)),
    }
  })
}
