import { UserError } from '../../errors.ts'
import { decidedAtLast, givesUpAfterJob, mayStillProve, shownAgainst } from './giving-up.ts'
import { keeps, screenedNow, screens } from './keeping.ts'
import type { EvidenceJob, EvidenceState } from './state.ts'

/** One side's turn within a job, as the report has it. */
export type JobTurn = {
  job: string | number
  runner?: string
  also_on?: readonly string[] | undefined
  order: 'base-first' | 'candidate-first'
}

function begun(
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

function continued(state: EvidenceState, { job, runner }: JobTurn): readonly EvidenceJob[] {
  const current = state.jobs.at(-1)
  if (runner !== undefined && runner !== current?.runner) {
    throw new UserError(`evidence: job ${job} ran on ${current?.runner}, and a pair of it on ${runner}`)
  }
  return state.jobs
}

function jobsWithTurn(state: EvidenceState, turn: JobTurn): readonly EvidenceJob[] {
  if (state.jobs.at(-1)?.id === turn.job) return continued(state, turn)
  if (state.jobs.some(({ id }) => id === turn.job)) {
    throw new UserError(`evidence: job ${turn.job} was followed by another and takes no more pairs`)
  }
  return begun(state, turn)
}

/** The state with one more pair on the account of its job; a job not seen before ends the one before it. */
export function withTurn(state: EvidenceState, turn: JobTurn, counted: boolean): EvidenceState {
  const jobs = jobsWithTurn(state, turn)
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

export function currentJobEnded(state: EvidenceState): EvidenceState {
  const last = state.jobs.length - 1
  return { ...state, jobs: state.jobs.map((job, index) => (index === last ? { ...job, ended: true } : job)) }
}

/** The same questions as after a pair, once for the whole sample. */
function afterWholeSample(state: EvidenceState): EvidenceState {
  if (screens(state)) return screenedNow(state)
  if (keeps(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  const reason = shownAgainst(state)
  return reason === null ? givesUpAfterJob(state) : { ...state, decided: { status: 'drop', reason } }
}

/** The end of a job that had all its pairs: a search given up there goes on only for a proof within reach. */
export function afterWholeJob(state: EvidenceState): EvidenceState {
  if (state.decided !== null || state.differences.length === 0) return currentJobEnded(state)
  if (state.rule.graded) return afterWholeSample(currentJobEnded(state))
  const next = givesUpAfterJob(state)
  return mayStillProve(next) ? next : decidedAtLast(currentJobEnded(next))
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
  if (!whole) return currentJobEnded(state)
  if (state.given_up === null) return afterWholeJob(state)
  return mayStillProve(state) ? state : currentJobEnded(state)
}
