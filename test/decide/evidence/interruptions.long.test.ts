import { describe, expect, it } from 'vitest'
import { computeLnTotal, endJob, observePair, resetKeepSide } from '../../../src/decide/evidence/observe.ts'
import { createSeededRandom } from '../../../src/decide/evidence/planning.ts'
import { type EvidenceState, startEvidence } from '../../../src/decide/evidence/state.ts'
import { getEvidenceStatus } from '../../../src/decide/evidence/rules.ts'

const ALPHA = 0.05
const PAIRS = 8
const RUNS = 500
/** Five, and as many again after it was taken up once more. */
const KILLS = 10

type Random = () => number

/** Symmetric about the largest effect that still counts as nothing, with tails: the hardest change to turn down. */
function difference(random: Random, nothing: number): number {
  const noise = (random() + random() + random() - 1.5) * 0.06
  return nothing + (random() < 0.05 ? 4 * noise : noise)
}

interface Idea {
  /** Asked when it knows how its pair would end; every yes costs one interruption. */
  killsPair: (state: EvidenceState, difference: number) => boolean
  /** Asked at the end of a job whose report it can still prevent. */
  killsJob: (before: EvidenceState, after: EvidenceState) => boolean
  /** What the engine makes of a pair that had begun; `counted` is the rule. */
  lost: 'counted' | 'left out'
}

const HONEST: Idea = { killsPair: () => false, killsJob: () => false, lost: 'counted' }
const WHEN_BEHIND: Idea = {
  ...HONEST,
  killsPair: ({ rule }, difference) => difference < rule.null_effect,
}

function kept(random: Random, idea: Idea): boolean {
  let state = startEvidence({ direction: 'minimize', minEffect: 0.02, alpha: ALPHA, maxJobs: 16 })
  let kills = KILLS
  let unreported = 0
  for (let job = 1; getEvidenceStatus(state).status === 'new-job'; job++) {
    const before = state
    for (let block = 0; block < PAIRS; block++) {
      const d = difference(random, state.rule.null_effect)
      const turn = { job, runner: `boot ${job}`, order: 'base-first' as const }
      const dies = kills > 0 && idea.killsPair(state, d)
      if (dies) kills -= 1
      if (!dies) state = observePair(state, { ...turn, base: 1, candidate: Math.exp(-d) })
      else if (idea.lost === 'counted')
        state = observePair(state, { ...turn, base: null, candidate: null, lost: true })
      if (getEvidenceStatus(state).status !== 'continue' && getEvidenceStatus(state).status !== 'new-job')
        break
      if (state.jobs.at(-1)?.ended) break
    }
    if (kills > 0 && idea.killsJob(before, state)) {
      kills -= 1
      unreported += 1
      state = idea.lost === 'counted' ? resetKeepSide(before, unreported) : before
      continue
    }
    if (state.jobs.at(-1)?.id === job) state = endJob(state, job)
  }
  return getEvidenceStatus(state).status === 'keep'
}

function share(idea: Idea): number {
  const random = createSeededRandom(39)
  let count = 0
  for (let run = 0; run < RUNS; run++) if (kept(random, idea)) count += 1
  return count / RUNS
}

describe('an idea that ends its machine whenever it is behind', () => {
  it('is kept no more often than the level, and no more often than one that lets it run', () => {
    const clever = share(WHEN_BEHIND)
    expect(clever).toBeLessThanOrEqual(ALPHA)
    expect(clever).toBeLessThanOrEqual(share(HONEST))
  })

  it('would be kept far more often if a pair that had begun were left out', () => {
    expect(share({ ...WHEN_BEHIND, lost: 'left out' })).toBeGreaterThan(2 * ALPHA)
  })

  it.each([-2, 0, 2])('and leaves nothing of jobs that end with ln E below %i is not either', below => {
    const killsJob: Idea['killsJob'] = (_, after) => computeLnTotal(after) < below
    expect(share({ ...HONEST, killsJob })).toBeLessThanOrEqual(ALPHA)
  })

  it('would be, if such a job were simply measured again', () => {
    const killsJob: Idea['killsJob'] = (_, after) => computeLnTotal(after) < 2
    expect(share({ ...HONEST, killsJob, lost: 'left out' })).toBeGreaterThan(2 * ALPHA)
  })
})
