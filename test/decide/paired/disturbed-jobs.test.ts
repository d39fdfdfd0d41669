import { describe, expect, it } from 'vitest'
import { type CheckedJob, judgeKeepCheck } from '../../../src/decide/paired/keep-check.ts'

const CHECK = { slow_runs: null, jobs_agree: true, pairs: 24, agree_pairs: 8, jobs: 10 }
const TURNS = [
  [true, true, true, true, true, false, true, true],
  [false, false, true, false, false, false, true, false],
  [true, false, true, true, true, true, true, false],
  [false, false, false, false, true, false, false, true],
]

/** Pairs whose candidate gains 5 %, and whose first run is slower by `cost`. */
function measureJob(turns: readonly boolean[], cost: number): CheckedJob {
  const pairs = turns.map((base_first, at) => {
    const gain = 0.05 + 0.002 * ((at % 3) - 1)
    const [base, candidate] = base_first ? [cost, -gain] : [0, cost - gain]
    return { base: Math.exp(base), candidate: Math.exp(candidate), base_first }
  })
  return { pairs, unreported: false }
}

function judge(cost: number) {
  const jobs = TURNS.map(turns => measureJob(turns, cost))
  const measure = { direction: 'minimize', scale: 'log' } as const
  const effects = { minEffect: 0.02, nullEffect: 0.005 }
  return judgeKeepCheck({ check: CHECK, measure, ...effects, jobs, screenedIn: -1, gainedIn: 3 }).is
}

describe('jobs in which one side ran first more often', () => {
  it('agree on a gain without the cost of running first', () => {
    expect(judge(0)).toBe('passed')
    expect(judge(0.3)).toBe('passed')
  })
})
