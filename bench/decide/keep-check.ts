import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import type { MeasuredPair } from '../../src/decide/evidence/slow-runs.ts'
import {
  countPairsOfNextJob,
  judgeKeepCheck,
  type KeepCheckInput,
  type KeepCheckResult,
} from '../../src/decide/paired/keep-check.ts'
import type { KeepCheck } from '../../src/model/order.ts'
import { outcomeOf, PAIRS_PER_JOB, startJob, type Weighed } from './our-rule.ts'
import type { Change, Outcome } from './rule.ts'

/** As `winnow` writes it into every order, unless the spec says otherwise. */
export const KEEP_CHECK: KeepCheck = {
  slow_runs: 0.05,
  jobs_agree: true,
  pairs: 24,
  agree_pairs: PAIRS_PER_JOB,
  jobs: 10,
}

export interface Checked {
  gained: boolean
  /** null: no gain was shown. */
  is: KeepCheckResult['is'] | null
  weighed: Weighed
}

/** Measures on after a shown gain, until the change is kept, held or not proven. */
export function checkKeep(change: Change, weighed: Weighed, check: KeepCheck = KEEP_CHECK): Checked {
  if (getEvidenceStatus(weighed.state).status !== 'keep') return { gained: false, is: null, weighed }
  let { jobs, executions } = weighed
  const { rule, screened } = weighed.state
  const terms = {
    check,
    measure: { direction: rule.direction, scale: rule.scale },
    minEffect: rule.min_effect,
    nullEffect: rule.null_effect,
    screenedIn: screened?.job ?? -1,
    gainedIn: jobs.length - 1,
  }
  for (;;) {
    const input: KeepCheckInput = { ...terms, jobs: jobs.map(pairs => ({ pairs, unreported: false })) }
    const { is } = judgeKeepCheck(input)
    if (is !== 'new-job' && is !== 'measure')
      return { gained: true, is, weighed: { ...weighed, jobs, executions } }
    const pairs = measureJob(change, weighed, countPairsOfNextJob(input))
    jobs = [...jobs, pairs]
    executions += 2 * (pairs.length + 1)
  }
}

function measureJob(change: Change, weighed: Weighed, count: number): MeasuredPair[] {
  const next = startJob(change, weighed)
  return Array.from({ length: count }, () => next(change.world.random.coin()))
}

/** What a change that is held or not proven leaves: its branch, and nothing on the optimize branch. */
export function checkedOutcome({ is, weighed }: Checked): Outcome {
  const outcome = outcomeOf(weighed)
  return { ...outcome, kept: is === 'passed', claimed: is === 'passed' ? outcome.claimed : 0 }
}
