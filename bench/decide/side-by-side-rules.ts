import { gsprt } from './gsprt.ts'
import { drawRunner } from './noise.ts'
import { type Change, type Outcome, pairOf, type SideBySideRule, times } from './rule.ts'
import { mannWhitneyZ, mean, median, standardDeviation } from './statistics.ts'

/** Student's t, nine degrees of freedom, one-sided 5 %. */
const T_NINE = 1.833
/** Normal, one-sided 1 %. */
const Z_ONE_PERCENT = 2.326

export const T_TEST = rule('10 pairs in random order, paired t, p < .05', 'textbook', change =>
  tenPairs(change, 'random', (_effect, t) => t > T_NINE),
)

/** Rules of others that run base and candidate themselves. */
export const SIDE_BY_SIDE_RULES: readonly SideBySideRule[] = [
  rule('same runner, one run, base first', 'a loop that re-runs its base', change => blocks(change, 1, 0)),
  rule('same runner, median of 5 better by 2 %', 'ce-optimize with its base re-run', change =>
    blocks(change, 5, 0.02),
  ),
  rule('two runners, 10 + 10, Mann-Whitney p < .01', 'two CI jobs compared', change => ranks(change, true)),
  rule('one runner, 10 then 10, Mann-Whitney p < .01', 'benchstat-like comparison in one job', change =>
    ranks(change, false),
  ),
  rule('10 pairs in fixed order, z >= 2.6 and > 1 %', 'bazhenov/tango; EffortlessMetrics/perfgate', change =>
    tenPairs(change, 'fixed', (effect, z) => z >= 2.6 && effect > 0.01),
  ),
  T_TEST,
  rule('GSPRT, alpha = beta = .05', 'official-stockfish/fishtest stat_util', change =>
    gsprt(change, { alpha: 0.05, beta: 0.05, prior: 0, atLeast: 8 }),
  ),
  rule('GSPRT with calibrated variance prior, alpha .01', 'the same with a prior of six pairs', change =>
    gsprt(change, { alpha: 0.01, beta: 0.05, prior: 6, atLeast: 2 }),
  ),
]

function rule(name: string, source: string, decide: (change: Change) => Outcome): SideBySideRule {
  return { kind: 'side-by-side', name, source, decide }
}

/** All runs of the base, then all of the candidate. */
function blocks({ world, effect }: Change, runs: number, threshold: number): Outcome {
  const runner = drawRunner(world)
  const [job, gain] = [runner.startJob(), runner.gainOf(effect)]
  const base = times(runs, () => job(0, false))
  const candidate = times(runs, () => job(gain, false))
  const claimed = median(base) - median(candidate)
  return { kept: claimed > threshold, claimed, executions: 2 * runs, jobs: 1 }
}

function ranks({ world, effect }: Change, apart: boolean): Outcome {
  const runner = drawRunner(world)
  const job = runner.startJob()
  const base = times(10, () => job(0, false))
  const other = apart ? drawRunner(world) : runner
  const [otherJob, gain] = [apart ? other.startJob() : job, other.gainOf(effect)]
  const candidate = times(10, () => otherJob(gain, false))
  const kept = mannWhitneyZ(candidate, base) > Z_ONE_PERCENT
  return { kept, claimed: median(base) - median(candidate), executions: 20, jobs: apart ? 2 : 1 }
}

function tenPairs(
  { world, effect }: Change,
  order: 'fixed' | 'random',
  keeps: (effect: number, z: number) => boolean,
): Outcome {
  const runner = drawRunner(world)
  const [job, gain] = [runner.startJob(), runner.gainOf(effect)]
  const differences = times(10, () => {
    const { base, candidate } = pairOf(job, gain, order === 'fixed' || world.random.coin())
    return base - candidate
  })
  const claimed = mean(differences)
  const z = claimed / (standardDeviation(differences) / Math.sqrt(differences.length))
  return { kept: keeps(claimed, z), claimed, executions: 20, jobs: 1 }
}
