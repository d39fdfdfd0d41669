import { UserError } from '../../errors.ts'
import type { EvidenceState } from './state.ts'

/** A parked state that may use more jobs; looking longer does not inflate the error (decision 3.3). */
export function resumeEvidence(state: EvidenceState, { maxJobs }: { maxJobs: number }): EvidenceState {
  if (state.decided !== null) {
    throw new UserError(
      `evidence: a verdict was reached (${state.decided.status}), so nothing can be resumed`,
    )
  }
  if (!Number.isInteger(maxJobs) || maxJobs <= state.jobs.length) {
    throw new UserError(`evidence: maxJobs is ${maxJobs}, and ${state.jobs.length} jobs are used`, {
      fix: `give a whole number above ${state.jobs.length}`,
    })
  }
  return { ...state, given_up: null, rule: { ...state.rule, max_jobs: maxJobs, give_up: 'never' } }
}
