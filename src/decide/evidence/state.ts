import type { MetricDirection, EvidenceScale } from './difference.ts'
import type { Difference, LnBets } from './rank-evidence.ts'
import type { VarianceSums } from './variance-prior.ts'

/** What was fixed before the first pair; `level` is alpha_t, already divided among the required objectives. */
export type EvidenceRule = {
  direction: MetricDirection
  scale: EvidenceScale
  min_effect: number
  null_effect: number
  level: number
  /** null: confirmed before, a combination, or nobody asks for a fresh runner. */
  screen: number | null
  pairs_per_job: number
  max_jobs: number
  fresh_runners: number
  runners: number
  single_machine: boolean
  /** The hybrid's pair noise; null where the rank process decides alone. */
  noise: number | null
  /** How much of the hybrid's evidence its likelihood ratio is. */
  ratio_share: number
  give_up: GiveUpRule
  /** Scores of items, read once a whole sample is scored: ties carry no evidence, and the mean is the effect. */
  graded: boolean
}

/**
 * When measuring ends before anything is shown. early: after little promise, to save money. late: where a gain of
 * twice min_effect is excluded. equal: where a loss of twice min_effect is excluded as well, which a guard against
 * regressions asks. never: a person asked for more.
 */
export type GiveUpRule = 'early' | 'late' | 'equal' | 'never'

/** The search for a gain has ended after so many pairs; that claims nothing about the gain. */
export type GiveUp = {
  reason:
    | 'no-promise-after-job-1'
    | 'no-promise-after-job-2'
    | 'gain-unlikely'
    | 'large-gain-ruled-out'
    | 'large-change-ruled-out'
    | 'gain-ruled-out'
  pairs: number
}

export type EvidenceJob = {
  id: string | number
  runner: string
  /** Other machines that ran pairs of it before it was interrupted. */
  also_on?: readonly string[] | undefined
  pairs: number
  /** The base failed: seen, not counted. */
  void_pairs: number
  base_first: number
  ended: boolean
}

/** The keep side: starts again at pair `from` when it screens. */
export type KeepSide = {
  from: number
  ln: LnBets
  /** Sums of the hybrid; null without it, or once a candidate failed since `from`. */
  sums: VarianceSums | null
}

export type EvidenceDecision = {
  status: 'keep' | 'drop'
  reason: 'gain-shown' | 'broken' | 'gain-ruled-out' | 'harm-shown'
}

/** All that is known of one comparison; plain JSON that orders and reports carry. */
export type EvidenceState = {
  rule: EvidenceRule
  /** Counted pairs in order; null: the candidate failed. */
  differences: readonly Difference[]
  failures: number
  keep: KeepSide
  /** Bets against a gain of min_effect. */
  drop: LnBets
  /** Bets on a loss. */
  harm: LnBets
  /** Which job screened, and the evidence it carries over. */
  screened: { job: number; ln: number } | null
  jobs: readonly EvidenceJob[]
  given_up: GiveUp | null
  decided: EvidenceDecision | null
}
