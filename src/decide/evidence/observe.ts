import { UserError } from '../../errors.ts'
import {
  checkPromiseEachJob,
  checkPromiseEachPair,
  decideLastJob,
  findReasonToDrop,
  isProofWithinReach,
} from './give-up.ts'
import { isScoreGainEnough } from './interval.ts'
import { computeLnMean, computeLnVarianceRatio, computeSignedDifference } from './rank-test.ts'
import type { EvidenceJob, EvidenceState } from './state.ts'
import { addLoss, isStale, restartKeepSide, weighDifference } from './weigh-pair.ts'

/** One base and one candidate execution side by side; null: that execution failed. */
export type EvidencePair = JobTurn & {
  base: number | null
  candidate: number | null
  lost?: true | undefined
}

export const MAX_CANDIDATE_FAILURES = 2

type JobTurn = {
  job: string | number
  runner?: string
  also_on?: readonly string[] | undefined
  order: 'base-first' | 'candidate-first'
}

/**
 * Returns the state after one more pair. A failed base makes the pair void, a failed candidate is a loss of
 * the highest rank, and two of them end the measuring (invariant 5). Pairs after a verdict (for guardrails,
 * say) count for effect and interval and change no verdict.
 */
export function observePair(state: EvidenceState, pair: EvidencePair): EvidenceState {
  const { base, candidate } = pair
  checkFinite(base, 'base')
  checkFinite(candidate, 'candidate')
  if (pair.lost) return addLostPair(recordTurn(state, pair, false))
  if (base === null) return recordTurn(state, pair, false)
  const difference = candidate === null ? null : computeSignedDifference(state.rule, base, candidate)
  const baseFirst = pair.order === 'base-first'
  return judgePair(weighDifference(recordTurn(state, pair, true), difference, baseFirst))
}

function checkFinite(value: number | null, side: string): void {
  if (value === null || Number.isFinite(value)) return
  throw new UserError(`evidence: the ${side}'s value is ${value}`, { fix: 'give a failed execution as null' })
}

/**
 * A pair that was lost after it had begun counts as the worst possible one for keeping, and for no other
 * question. A candidate that ends its machine when it is behind is no better off than one that loses the
 * pair, and one whose machine died is not called worse (decision 039).
 */
function addLostPair(state: EvidenceState): EvidenceState {
  return state.decided !== null || isStale(state) ? state : { ...state, keep: addLoss(state) }
}

/** A new job ends the one before it. */
function recordTurn(state: EvidenceState, turn: JobTurn, counted: boolean): EvidenceState {
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

function selectJobs(state: EvidenceState, turn: JobTurn): readonly EvidenceJob[] {
  const { job, runner } = turn
  const current = state.jobs.at(-1)
  if (current?.id === job) {
    if (runner === undefined || runner === current.runner) return state.jobs
    throw new UserError(`evidence: job ${job} ran on ${current.runner}, and a pair of it on ${runner}`)
  }
  if (state.jobs.every(({ id }) => id !== job)) return addJob(state, turn)
  throw new UserError(`evidence: job ${job} was followed by another and takes no more pairs`)
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

/**
 * Decides after each pair, in this order: drop, screen or keep, give up, end of job (docs/deciding.md, When it
 * stops). A search that was given up asks for no fresh runner: its last pairs are for proofs of harm and of no gain.
 */
function judgePair(state: EvidenceState): EvidenceState {
  if (state.decided !== null) return state
  if (state.rule.graded) return judgeGraded(state)
  const reason = state.failures >= MAX_CANDIDATE_FAILURES ? 'broken' : findReasonToDrop(state)
  if (reason !== null) return { ...state, decided: { status: 'drop', reason } }
  if (state.given_up === null && isScreenReached(state)) return endCurrentJob(startConfirmation(state))
  if (isLevelReached(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  return continueOrEndJob(checkPromiseEachPair(state))
}

/** All items of a sample are scored before any is read: stopping within it would save no work. */
function judgeGraded(state: EvidenceState): EvidenceState {
  if (state.failures >= MAX_CANDIDATE_FAILURES)
    return { ...state, decided: { status: 'drop', reason: 'broken' } }
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  return pairs >= state.rule.pairs_per_job && !ended ? judgeWholeJob(state) : state
}

/** Ends a job that had all its pairs: a search given up there goes on only for a proof within reach. */
function judgeWholeJob(state: EvidenceState): EvidenceState {
  if (state.decided !== null || state.differences.length === 0) return endCurrentJob(state)
  if (state.rule.graded) return judgeWholeSample(endCurrentJob(state))
  const next = checkPromiseEachJob(state)
  return isProofWithinReach(next) ? next : decideLastJob(endCurrentJob(next))
}

function endCurrentJob(state: EvidenceState): EvidenceState {
  const last = state.jobs.length - 1
  return { ...state, jobs: state.jobs.map((job, index) => (index === last ? { ...job, ended: true } : job)) }
}

/** Checks after a whole sample what `judgePair` checks after a pair. */
function judgeWholeSample(state: EvidenceState): EvidenceState {
  if (isScreenReached(state)) return startConfirmation(state)
  if (isLevelReached(state)) return { ...state, decided: { status: 'keep', reason: 'gain-shown' } }
  const reason = findReasonToDrop(state)
  return reason === null ? checkPromiseEachJob(state) : { ...state, decided: { status: 'drop', reason } }
}

/** E has reached the screen: the next job needs a fresh runner. */
function isScreenReached(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen === null || screened !== null) return false
  return computeLnStage(state) >= Math.log(rule.screen) && isGainEnough(state)
}

/**
 * ln E since the screen: the rank process, half of it about two speeds of the machine, or under the hybrid its
 * weighted mean with the likelihood ratio. A gain as large as the gap between the speeds shows in the other half.
 */
function computeLnStage({ rule, keep }: EvidenceState): number {
  const rank = computeLnMean([computeLnMean(keep.ln), computeLnMean(keep.ln_centred)])
  if (rule.noise === null) return rank
  const ranked = rank + Math.log(1 - rule.ratio_share)
  if (keep.sums === null) return ranked
  const ratio = computeLnVarianceRatio(keep.sums, rule.noise) + Math.log(rule.ratio_share)
  return computeLnMean([ranked, ratio]) + Math.LN2
}

function isGainEnough({ rule, differences }: EvidenceState): boolean {
  return !rule.graded || isScoreGainEnough(differences, { minEffect: rule.min_effect })
}

/** Ranks start again, and the evidence gathered so far is carried on. */
function startConfirmation(state: EvidenceState): EvidenceState {
  const screened = { job: state.jobs.length - 1, ln: computeLnStage(state) }
  return { ...state, screened, given_up: null, keep: restartKeepSide(state) }
}

/** E has reached 1/level in all, on as many runners as it takes. */
function isLevelReached(state: EvidenceState): boolean {
  const { rule, screened } = state
  if (rule.screen !== null && (screened === null || computeLnStage(state) <= 0)) return false
  return computeLnTotal(state) >= -Math.log(rule.level) && hasEnoughRunners(state) && isGainEnough(state)
}

/**
 * Whether enough machines took part for a keep: since the screen, fresh ones, which the one
 * that screened is not; and enough in all.
 */
function hasEnoughRunners(state: EvidenceState): boolean {
  const { rule, screened, jobs } = state
  if (collectDistinctRunners(state, jobs).size < rule.runners) return false
  if (screened === null) return true
  const fresh = collectDistinctRunners(state, jobs.slice(screened.job + 1))
  const screener = jobs[screened.job]
  for (const each of screener === undefined ? [] : listRunnerIdentities(state, screener)) fresh.delete(each)
  return fresh.size >= rule.fresh_runners
}

function collectDistinctRunners(state: EvidenceState, jobs: readonly EvidenceJob[]): Set<string | number> {
  return new Set(jobs.filter(({ pairs }) => pairs > 0).flatMap(job => listRunnerIdentities(state, job)))
}

/** Two jobs with a common boot id ran on the same runner. On a single machine every job counts as a runner. */
function listRunnerIdentities({ rule }: EvidenceState, job: EvidenceJob): (string | number)[] {
  return rule.single_machine ? [job.id] : [job.runner, ...(job.also_on ?? [])]
}

function continueOrEndJob(state: EvidenceState): EvidenceState {
  const { pairs = 0, ended = false } = state.jobs.at(-1) ?? {}
  if (ended) return state
  if (state.given_up !== null) return isProofWithinReach(state) ? state : endCurrentJob(state)
  return pairs >= state.rule.pairs_per_job ? judgeWholeJob(state) : state
}

/** After the nth job without any report, the evidence for keeping starts from zero, below 1. */
export function resetKeepSide(state: EvidenceState, nth: number): EvidenceState {
  if (state.decided !== null) return state
  let restarted: EvidenceState = { ...state, screened: null, keep: restartKeepSide(state) }
  for (let gap = 0; gap < nth; gap++) restarted = { ...restarted, keep: addLoss(restarted) }
  return restarted
}

/**
 * The runner reports that `job` is over. `whole: false` (a deadline, a machine that went away) leaves out the
 * check of a job that ran to its end. A job that has ended already stays as it is, and so does one with a
 * proof within reach.
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

/** ln E_total = ln E_screen + ln E_fresh. */
export function computeLnTotal(state: EvidenceState): number {
  return (state.screened?.ln ?? 0) + computeLnStage(state)
}
