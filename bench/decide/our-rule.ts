import { computeReportedEffect, estimateHodgesLehmann } from '../../src/decide/evidence/interval.ts'
import { observePair } from '../../src/decide/evidence/observe.ts'
import { type EvidenceOptions, type EvidenceState, startEvidence } from '../../src/decide/evidence/state.ts'
import type { MeasuredPair } from '../../src/decide/evidence/slow-runs.ts'
import { getEvidenceStatus } from '../../src/decide/evidence/rules.ts'
import { drawRunner, type Job, type Runner } from './noise.ts'
import { type Change, type Outcome, pairOf, times } from './rule.ts'

/** The smallest gain worth having in every table: 2 %. */
export const MIN_EFFECT = 0.02
export const PAIRS_PER_JOB = 8

export type OurOptions = Partial<EvidenceOptions>

export interface Weighed {
  state: EvidenceState
  executions: number
  /** What was used until the search for a gain ended: the pairs after it are for a proof of harm or of no gain. */
  search: { executions: number; jobs: number; givenUp: boolean }
  /** The pairs of each job. */
  jobs: readonly (readonly MeasuredPair[])[]
  nextRunner: () => { runner: Runner; gain: number }
}

/** winnow's rule, by the library itself: jobs on runners of the world until it has reached a verdict. */
export function weigh(change: Change, options: OurOptions): Weighed {
  const state = startEvidence({ direction: 'minimize', minEffect: MIN_EFFECT, ...options })
  return weighOn(change, {
    state,
    executions: 0,
    search: { executions: 0, jobs: 0, givenUp: false },
    jobs: [],
    nextRunner: runners(change, state.rule.single_machine),
  })
}

/** On from where it stands. */
export function weighOn(change: Change, from: Weighed): Weighed {
  const { random } = change.world
  let { state, executions, search } = from
  const jobs = from.jobs.map(pairs => [...pairs])
  for (let number = state.jobs.length + 1; getEvidenceStatus(state).status === 'new-job'; number++) {
    const next = startJob(change, from)
    const pairs: MeasuredPair[] = []
    jobs.push(pairs)
    executions += 2
    do {
      const baseFirst = random.coin()
      const order = baseFirst ? 'base-first' : 'candidate-first'
      const pair = next(baseFirst)
      pairs.push(pair)
      state = observePair(state, { ...pair, job: number, order })
      executions += 2
      // A gain that screens after all was not given up.
      const givenUp = state.given_up !== null
      if (!givenUp || !search.givenUp) search = { executions, jobs: state.jobs.length, givenUp }
    } while (getEvidenceStatus(state).status === 'continue')
  }
  return { ...from, state, executions, search, jobs }
}

/** Builds both sides on the next runner and warms them up. Every call of the answer is a pair. */
export function startJob(
  change: Change,
  { nextRunner }: Pick<Weighed, 'nextRunner'>,
): (baseFirst: boolean) => MeasuredPair & { base_first: boolean } {
  const { runner, gain } = nextRunner()
  const [job, luck] = [runner.startJob(), change.buildLuck?.() ?? 0]
  warmUp(job, gain + luck, change.world.random.coin())
  return baseFirst => {
    const { base, candidate } = pairOf(job, gain + luck, baseFirst)
    const more = (side: 'base' | 'candidate') => change.disturb?.(side) ?? 0
    const values = { base: Math.exp(base + more('base')), candidate: Math.exp(candidate + more('candidate')) }
    return { ...values, base_first: baseFirst }
  }
}

export function outcomeOf({ state, executions, search, jobs }: Weighed): Outcome {
  const kept = getEvidenceStatus(state).status === 'keep'
  const claimed = kept ? estimateHodgesLehmann(state.differences) : 0
  return { kept, claimed, executions, jobs: jobs.length, search }
}

/** A runner for each job; where there is one machine only, what a change does on it stays as it is. */
function runners({ world, effect }: Change, single: boolean): () => { runner: Runner; gain: number } {
  const draw = () => {
    const runner = drawRunner(world)
    return { runner, gain: runner.gainOf(effect) }
  }
  if (!single) return draw
  const only = draw()
  return () => only
}

/** One execution of each side that nobody looks at. */
export function warmUp(job: Job, gain: number, baseFirst: boolean): void {
  pairOf(job, gain, baseFirst)
}

/** A pair as a harness would print it. */
export function timed(job: Job, gain: number, baseFirst: boolean): { base: number; candidate: number } {
  const { base, candidate } = pairOf(job, gain, baseFirst)
  return { base: Math.exp(base), candidate: Math.exp(candidate) }
}

/** The differences of whole jobs that no rule stops, each on a runner of its own. */
export function jobOfDifferences({ world, effect }: Change, baseFirst = world.random.coin): number[] {
  const runner = drawRunner(world)
  const [job, gain] = [runner.startJob(), runner.gainOf(effect)]
  warmUp(job, gain, baseFirst())
  return times(PAIRS_PER_JOB, () => {
    const { base, candidate } = pairOf(job, gain, baseFirst())
    return base - candidate
  })
}

/** One more job after a keep: nothing was selected by it. */
export function reportedEffect(change: Change): { effect: number; executions: number } {
  const { effect } = computeReportedEffect(jobOfDifferences(change))
  return { effect: effect ?? Number.NaN, executions: 2 + 2 * PAIRS_PER_JOB }
}
