import { UserError } from '../../errors.ts'
import { decideLastJob, checkPromiseEachJob, isProofWithinReach, findReasonToDrop } from './giving-up.ts'
import { isLevelReached, startConfirmation, isScreenReached } from './keeping.ts'
import type { EvidenceJob, EvidenceState } from './state.ts'

/** One side's turn within a job, as the report has it. */
export type JobTurn = {
  job: string | number
  runner?: string
  also_on?: readonly string[] | undefined
  order: 'base-first' | 'candidate-first'
}

function addJob(
  state: EvidenceState,
  { job, runner = String(job), also_on }: JobTurn,
): readonly EvidenceJob[] {
  const { jobs, decided, rule } = state
  if (decided === null && jobs.length >= rule.max_jobs) {
    throw new UserError(`evidence: job ${job} would be one more than max_jobs ${rule.max_jobs}`, {
      fix: 'resume the state with more jobs first',
    })
  }
  const elsewhere = also_on === undefined ? {} : { also_on }
  return [...jobs, { id: job, runner, ...elsewhere, pairs: 0, void_pairs: 0, base_first: 0, ended: false }]
}

function continueJob(state: EvidenceState, { job, runner }: JobTurn): readonly EvidenceJob[] {
  const current = state.jobs.at(-1)
  if (runner !== undefined && runner !== current?.runner) {
    throw new UserError(`evidence: job ${job} ran on ${current?.runner}, and a pair of it on ${runner}`)
  }
  return state.jobs
}

function selectJobs(state: EvidenceState, turn: JobTurn): readonly EvidenceJob[] {
  if (state.jobs.at(-1)?.id === turn.job) return continueJob(state, turn)
  if (state.jobs.some(({ id }) => id === turn.job)) {
    throw new UserError(`evidence: job ${turn.job} was followed by another and takes no more pairs`)
  }
  return addJob(state, turn)
}

/** The state with one more pair on the account of its job; a job not seen before ends the one before it. */
export function recordTurn(state: EvidenceState, turn: JobTurn, counted: boolean): EvidenceState {
  const jobs = selectJobs(state, turn)
  const rewritten = jobs.map((job, index) => {
    if (index < jobs.length - 1) return job.ended ? job : { ...job, ended: true }
    return {
      ...job,
      pairs: job.pairs + (counted ? 1 : 0),
      void_pairs: job.void_pairs + (counted ? 0 : 1),
      base_first: job.base_first + (turn.order === 'base-first' ? 1 : 0),
    }
  })
  const given_up = jobs.length > state.jobs.length ? null : state.given_up
  return { ...state, jobs: rewritten, given_up }
}

export function endCurrentJob(state: EvidenceState): EvidenceState {
  const last = state.jobs.length - 1
  return { ...state, jobs: state.jobs.map((job, index) => (index === last ? { ...job, ended: true } : job)) }
}

/** The same questions as after a pair, once for the whole sample. */
function judgeWholeSample(state: EvidenceState): EvidenceState {
  if (isScreenReached(state)) return startConfirmation(state)
  if (isLevelReached(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  const reason = findReasonToDrop(state)
  return reason === null ? checkPromiseEachJob(state) : { ...state, decided: { status: 'drop', reason } }
}

/** The end of a job that had all its pairs: a search given up there goes on only for a proof within reach. */
export function judgeWholeJob(state: EvidenceState): EvidenceState {
  if (state.decided !== null || state.differences.length === 0) return endCurrentJob(state)
  if (state.rule.graded) return judgeWholeSample(endCurrentJob(state))
  const next = checkPromiseEachJob(state)
  return isProofWithinReach(next) ? next : decideLastJob(endCurrentJob(next))
}

/**
 * The runner says that `job` is over. `whole: false` (a deadline, a machine that went away) leaves out the check
 * of a job that ran to its end. A job that has ended already stays as it is, and so does one with a proof within reach.
 */
export function endJob(
  state: EvidenceState,
  job: string | number,
  { whole = true }: { whole?: boolean } = {},
): EvidenceState {
  const known = state.jobs.find(({ id }) => id === job)
  if (known === undefined) throw new UserError(`evidence: job ${job} has no pair and cannot end`)
  if (known.ended) return state
  if (!whole) return endCurrentJob(state)
  if (state.given_up === null) return judgeWholeJob(state)
  return isProofWithinReach(state) ? state : endCurrentJob(state)
}
