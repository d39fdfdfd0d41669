import { type Memory, type Run, type StoredOutcome, type StoredRule, times } from './rule.ts'
import { mean, median, medianDeviation, normalBelow, standardDeviation } from './statistics.ts'

/** Rules that compare with a score of another job: what most loops of agents do today. */
export const STORED_RULES: readonly StoredRule[] = [
  {
    kind: 'stored',
    name: 'one run, strictly better',
    source: 'karpathy/autoresearch program.md; evo compare_scores',
    samples: 1,
    judge: compared(1, mean, 0),
  },
  {
    kind: 'stored',
    name: 'one run, three attempts',
    source: 'evo max_attempts = 3',
    samples: 1,
    judge: attempts(3),
  },
  {
    kind: 'stored',
    name: 'mean of 3, rolled back if worse',
    source: 'veegee82/agent-workflow-protocol awp.outer_loop',
    samples: 3,
    judge: compared(3, mean, 0),
  },
  {
    kind: 'stored',
    name: 'median of 5 better by 2 %',
    source: 'EveryInc ce-optimize, mode repeat, noise_threshold .02',
    samples: 5,
    judge: compared(5, median, 0.02),
  },
  {
    kind: 'stored',
    name: 'median of 5 better by 5 %',
    source: 'EveryInc ce-optimize, comparison relative .05',
    samples: 5,
    judge: compared(5, median, 0.05),
  },
  {
    kind: 'stored',
    name: 'ladder, all paired differences over 5 %',
    source: 'EveryInc ce-optimize, mode ladder, comparison paired',
    samples: 5,
    judge: ladder,
  },
  {
    kind: 'stored',
    name: 'one run, better by 2 MAD',
    source: 'davebcn87/pi-autoresearch confidence band 2.0',
    samples: 1,
    judge: twoDeviations,
  },
  {
    kind: 'stored',
    name: 'mean with Bayesian early stop',
    source: 'SakanaAI/ShinkaEvolve eval_stop.py, cutoff .05',
    samples: 3,
    judge: bayesian,
  },
]

type Judge = StoredRule['judge']

function outcome(memory: number, now: number, kept: boolean, scores: number[], jobs = 1): StoredOutcome {
  return { kept, claimed: memory - now, executions: scores.length, jobs, scores }
}

function compared(runs: number, centre: (values: readonly number[]) => number, threshold: number): Judge {
  return ({ best }, measure) => {
    const scores = times(runs, measure())
    const [before, now] = [centre(best), centre(scores)]
    return outcome(before, now, before - now > threshold, scores)
  }
}

function attempts(most: number): Judge {
  return ({ best }, measure) => {
    const before = mean(best)
    for (let tried = 1; ; tried++) {
      const now = measure()()
      if (now < before || tried === most) {
        return { ...outcome(before, now, now < before, [now], tried), executions: tried }
      }
    }
  }
}

/** One pair first; two if it says nothing; all five where every one so far is better by the threshold. */
function ladder({ best }: Memory, measure: () => Run): StoredOutcome {
  const [threshold, most] = [0.05, 5]
  const run = measure()
  const scores: number[] = []
  const gains = () => scores.map((score, index) => (best[index] ?? Number.NaN) - score)
  for (;;) {
    scores.push(run())
    const better = gains().every(gain => gain > threshold)
    const worse = gains().every(gain => gain < -threshold)
    const enough = better ? scores.length >= most : scores.length >= 2
    if (worse || enough) return outcome(mean(best), mean(scores), better, scores)
  }
}

function twoDeviations({ best, history }: Memory, measure: () => Run): StoredOutcome {
  const before = mean(best)
  const now = measure()()
  const enough = history.length >= 2
  return outcome(before, now, enough && before - now >= 2 * medianDeviation([...history, now]), [now])
}

/** Normal model: stops when it is 95 % sure either way, after two to five runs; then compares means. */
function bayesian({ best }: Memory, measure: () => Run): StoredOutcome {
  const [cutoff, most] = [0.05, 5]
  const run = measure()
  const before = mean(best)
  const scores = [run()]
  for (;;) {
    scores.push(run())
    const error = standardDeviation(scores) / Math.sqrt(scores.length)
    const better = normalBelow((before - mean(scores)) / error)
    const sure = better < cutoff || better > 1 - cutoff
    if (sure || scores.length >= most) return outcome(before, mean(scores), before > mean(scores), scores)
  }
}
