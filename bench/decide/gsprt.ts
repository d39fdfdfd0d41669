import { drawRunner } from './noise.ts'
import { type Change, type Outcome, pairOf } from './rule.ts'
import type { Scenario } from './scenarios.ts'
import { mean } from './statistics.ts'

const PAIRS_PER_JOB = 4
const MOST_PAIRS = 32
const WORTHWHILE = 0.02

interface Test {
  alpha: number
  beta: number
  /** Pairs that the calibrated noise counts for. */
  prior: number
  /** Pairs before it may stop. */
  atLeast: number
}

/** Generalised sequential probability ratio test of an effect of 2 % against none, after every pair. */
export function gsprt(change: Change, test: Test): Outcome {
  const upper = Math.log((1 - test.beta) / test.alpha)
  const lower = Math.log(test.beta / (1 - test.alpha))
  const spread = pairSpread(change.world.scenario)
  const differences: number[] = []
  for (const difference of pairs(change)) {
    differences.push(difference)
    if (differences.length < test.atLeast) continue
    const ratio = lnRatio(differences, test.prior, spread)
    if (ratio >= upper || ratio <= lower) return outcome(differences, ratio >= upper)
  }
  return outcome(differences, false)
}

function outcome(differences: readonly number[], kept: boolean): Outcome {
  const pairCount = differences.length
  return {
    kept,
    claimed: mean(differences),
    executions: 2 * pairCount,
    jobs: Math.ceil(pairCount / PAIRS_PER_JOB),
  }
}

function* pairs({ world, effect }: Change): Generator<number> {
  for (let count = 0; count < MOST_PAIRS; count += PAIRS_PER_JOB) {
    const runner = drawRunner(world)
    const [job, gain] = [runner.startJob(), runner.gainOf(effect)]
    for (let pair = 0; pair < PAIRS_PER_JOB; pair++) {
      const { base, candidate } = pairOf(job, gain, world.random.coin())
      yield base - candidate
    }
  }
}

function lnRatio(differences: readonly number[], prior: number, spread: number): number {
  const about = (centre: number) =>
    prior * spread ** 2 + differences.reduce((sum, d) => sum + (d - centre) ** 2, 0)
  return ((prior + differences.length) / 2) * Math.log(about(0) / about(WORTHWHILE))
}

/** Robust standard deviation of a pair's difference, as a calibration would have found it. */
function pairSpread({ name }: Scenario): number {
  return { dedicated: 0.01, quiet: 0.014, typical: 0.03, noisy: 0.06 }[name] ?? 0.03
}
