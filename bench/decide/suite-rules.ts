import { computeBettingEvidence } from '../../src/decide/evidence/rank-test.ts'
import type { SuiteRun } from './suite-tasks.ts'
import { times } from './rule.ts'
import { mean, median } from './statistics.ts'

interface SuiteOutcome {
  kept: boolean
  /** Of both sides where both run. */
  taskRuns: number
}

export interface SuiteRule {
  name: string
  source: string
  decide: (suite: SuiteRun) => SuiteOutcome
}

const SCREEN = 20
const DROP = 5
const MOST_PASSES = 8
/** The smallest gain worth having: five points of a hundred. */
const MIN_EFFECT = 0.05
/** Tasks between two looks. */
const LOOK_EVERY = 5

export const SUITE_RULES: readonly SuiteRule[] = [
  stored('one pass, mean > stored', 'karpathy/autoresearch', 1, mean, gain => gain > 0),
  stored('one pass, mean not worse', 'evo compare_scores; AWP, one pass', 1, mean, gain => gain >= 0),
  stored('three passes, mean not worse', 'AWP with three passes', 3, mean, gain => gain >= 0),
  { name: 'minibatch of 3, strictly better', source: 'gepa-ai/gepa reflection minibatch', decide: minibatch },
  stored('median of 3 passes better by .02', 'EveryInc ce-optimize', 3, median, gain => gain > 0.02),
  { name: 'McNemar, p < .05, one pass', source: 'textbook', decide: mcnemar },
  { name: 'winnow suite, alpha .05', source: 'src/decide/evidence', decide: betting(0.05, 0) },
  { name: 'winnow suite, alpha .01', source: 'src/decide/evidence', decide: betting(0.01, 0) },
  {
    name: 'winnow suite, alpha .01, null effect 1.25 pp',
    source: 'src/decide/evidence',
    decide: betting(0.01, MIN_EFFECT / 4),
  },
]

function stored(
  name: string,
  source: string,
  passes: number,
  centre: (values: readonly number[]) => number,
  keeps: (gain: number) => boolean,
): SuiteRule {
  const score = (pass: () => number[]) => centre(times(passes, () => mean(pass())))
  return {
    name,
    source,
    decide: suite => ({
      kept: keeps(rounded(score(suite.candidatePass) - score(suite.basePass))),
      taskRuns: passes * suite.tasks,
    }),
  }
}

/** Means of passes and fails: what is equal has to be equal. */
function rounded(gain: number): number {
  return Math.round(gain * 1e9) / 1e9
}

function minibatch({ differencesOfPass }: SuiteRun): SuiteOutcome {
  const three = differencesOfPass().slice(0, 3)
  return { kept: three.reduce((sum, d) => sum + d, 0) > 0, taskRuns: 6 }
}

/** Exact, one-sided. */
function mcnemar({ differencesOfPass, tasks }: SuiteRun): SuiteOutcome {
  const decisive = differencesOfPass().filter(d => d !== 0)
  const won = decisive.filter(d => d > 0).length
  return { kept: atLeast(won, decisive.length) < 0.05, taskRuns: 2 * tasks }
}

/** Chance of that many heads or more. */
function atLeast(heads: number, coins: number): number {
  let [chance, total] = [2 ** -coins, 0]
  for (let count = 0; count <= coins; count++) {
    if (count >= heads) total += chance
    chance *= (coins - count) / (count + 1)
  }
  return total
}

/**
 * The stops of paired measurement with the betting process of the library in place of ranks: a job is a pass,
 * the checks that need no guarantee look at the mean, and a screen is confirmed by another pass.
 */
function betting(alpha: number, nullEffect: number): SuiteRule['decide'] {
  return ({ differencesOfPass, tasks }) => {
    const seen: Seen = { all: [], from: 0, screened: null }
    const ended = (kept: boolean) => ({ kept, taskRuns: 2 * seen.all.length })
    for (let pass = 1; pass <= MOST_PASSES; pass++) {
      let status: Status = 'continue'
      for (const [index, difference] of differencesOfPass().entries()) {
        seen.all.push(difference)
        const looks = (index + 1) % LOOK_EVERY === 0 || index + 1 === tasks
        if (looks) status = looked(seen, alpha, nullEffect)
        if (status !== 'continue') break
      }
      if (status === 'keep' || status === 'drop') return ended(status === 'keep')
      if (status === 'continue' && unpromising(seen.all, pass)) return ended(false)
    }
    return ended(false)
  }
}

interface Seen {
  all: number[]
  /** Where the evidence started anew, and what it had reached by then. */
  from: number
  screened: number | null
}

type Status = 'continue' | 'screened' | 'keep' | 'drop'

function looked(seen: Seen, alpha: number, nullEffect: number): Status {
  const losses = seen.all.map(difference => -difference)
  if (computeBettingEvidence(losses, -MIN_EFFECT) >= DROP) return 'drop'
  const stage = computeBettingEvidence(seen.all.slice(seen.from), nullEffect)
  if (seen.screened !== null) return stage > 1 && seen.screened * stage >= 1 / alpha ? 'keep' : 'continue'
  if (stage < SCREEN) return 'continue'
  seen.screened = stage
  seen.from = seen.all.length
  return 'screened'
}

function unpromising(differences: readonly number[], pass: number): boolean {
  const least = [MIN_EFFECT / 4, MIN_EFFECT / 2][pass - 1]
  return least !== undefined && mean(differences) <= least
}
