import { HarnessError, UserError } from '../../errors.ts'

/** A stored paired difference: null where the candidate failed, a loss greater than any other. */
export type Difference = number | null

/** ln of the product of each bet so far. */
export type LnBets = readonly [number, number]

const RANK_BETS: LnBets = [0.7, 1.5]
export const NO_BETS: LnBets = [0, 0]

/** ln(2/(1 + exp(-2 bet z))), without overflow. */
function computeLnFactor(bet: number, z: number): number {
  const x = -2 * bet * z
  return Math.LN2 - (x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x)))
}

// Rank process

export function toComparable(difference: Difference | undefined): number {
  return difference ?? Number.NEGATIVE_INFINITY
}

/**
 * z of the difference `last` among those from `from` up to it, about theta: its sign times 2 r/(i + 1), where
 * r is the rank of |d - theta| at the moment it arrives (ties count one half). Ranks of earlier pairs never
 * change, so one more pair costs one pass.
 */
export function computeSignedRank(
  differences: readonly Difference[],
  from: number,
  theta: number,
  last = differences.length - 1,
): number {
  const shifted = toComparable(differences[last]) - theta
  const size = Math.abs(shifted)
  let rank = 1
  for (let index = from; index < last; index++) {
    const other = Math.abs(toComparable(differences[index]) - theta)
    if (other < size) rank += 1
    else if (other === size) rank += 0.5
  }
  return (Math.sign(shifted) * 2 * rank) / (last - from + 2)
}

export function updateBets([first, second]: LnBets, z: number): LnBets {
  return [first + computeLnFactor(RANK_BETS[0], z), second + computeLnFactor(RANK_BETS[1], z)]
}

/** ln of the mean of two values given by their ln. */
export function computeLnMean([first, second]: LnBets): number {
  return Math.max(first, second) + Math.log1p(Math.exp(-Math.abs(first - second))) - Math.LN2
}

/** ln E after each pair, for H0: effect <= theta0. */
export function computeLnEvidencePath(differences: readonly Difference[], theta0: number): number[] {
  let bets = NO_BETS
  return differences.map((_, index) => {
    bets = updateBets(bets, computeSignedRank(differences, 0, theta0, index))
    return computeLnMean(bets)
  })
}

/**
 * The sign-symmetric rank e-process, as ln E, for H0: effect <= theta0: E = mean over c in {0.7, 1.5} of
 * prod 2/(1 + exp(-2 c z_j)) (docs/deciding.md, Evidence). Identical behaviour in an order drawn by coin makes
 * each sign fair given the sizes, so E stays fair under drift, spikes and heavy tails; one pair at most doubles
 * it. No pair: ln E = 0.
 */
export function computeLnEvidence(differences: readonly Difference[], theta0: number): number {
  return computeLnEvidencePath(differences, theta0).at(-1) ?? 0
}

/** E from ln E; never infinite, so that it can be stored. */
export function toEvidence(ln: number): number {
  return Math.min(Math.exp(ln), Number.MAX_VALUE)
}

// Paired differences

export type MetricDirection = 'minimize' | 'maximize'
export type EvidenceScale = 'log' | 'linear'
/** The scale is pinned at calibration. */
export type MetricMeasure = { direction: MetricDirection; scale: EvidenceScale }

const DIFFERENCE_GRID = 2 ** 40

function requireFinite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new HarnessError(`a measured value is ${value}: a failed execution has to be given as null`)
}

function computeLogarithm(value: number): number {
  if (value > 0) return Math.log(value)
  throw new HarnessError(`the metric is compared on a log scale, and a value of it is ${value}`, {
    example: 'a value above 0; a metric that can be 0 or less needs evidence.scale: linear',
  })
}

/** Rounds far below any noise, so that equal ratios are equal in every unit of the metric. */
function computeLogDifference(base: number, candidate: number): number {
  const difference = computeLogarithm(base) - computeLogarithm(candidate)
  return (Math.sign(difference) * Math.round(Math.abs(difference) * DIFFERENCE_GRID)) / DIFFERENCE_GRID
}

/**
 * The paired difference d: ln(base) - ln(candidate) under log, base - candidate under linear,
 * with positive always better. Exactly antisymmetric in its two values.
 */
export function computeSignedDifference(
  { direction, scale }: MetricMeasure,
  base: number,
  candidate: number,
): number {
  const [before, after] = [requireFinite(base), requireFinite(candidate)]
  const difference = scale === 'log' ? computeLogDifference(before, after) : requireFinite(before - after)
  if (difference === 0) return 0
  return direction === 'minimize' ? difference : -difference
}

/** Index of the pair after which E(d - theta) first reached `threshold`; Infinity: not yet. */
export function findFirstCrossing(
  differences: readonly Difference[],
  theta: number,
  threshold: number,
): number {
  const at = computeLnEvidencePath(differences, theta).findIndex(ln => ln >= Math.log(threshold))
  return at < 0 ? Number.POSITIVE_INFINITY : at
}

export function reverseDifferences(differences: readonly Difference[]): number[] {
  return differences.map(difference => 0 - toComparable(difference))
}

// Bounded scores

const BETTING_STAKES = [0.15, 0.3, 0.5, 0.75]

/**
 * The betting e-process for bounded scores (decision 2b, Waudby-Smith and Ramdas), for pass/fail tasks:
 * differences in [-1, 1], H0: mean <= m0, E = mean over b in {.15, .3, .5, .75} of prod (1 + b (d - m0)/(1 +
 * |m0|)).
 */
export function computeBettingEvidence(differences: readonly number[], m0 = 0): number {
  const outside = differences.find(difference => !(Math.abs(difference) <= 1))
  if (outside !== undefined) {
    throw new UserError(`a difference of scores is ${outside}, and has to lie between -1 and 1`)
  }
  if (!(Math.abs(m0) < 1)) throw new UserError(`m0 is ${m0}, and has to lie between -1 and 1`)
  const lns = BETTING_STAKES.map(bet =>
    differences.reduce((ln, d) => ln + Math.log1p((bet * (d - m0)) / (1 + Math.abs(m0))), 0),
  )
  return toEvidence(computeLnMeanOfAll(lns))
}

function computeLnMeanOfAll(lns: readonly number[]): number {
  const most = Math.max(...lns)
  return most + Math.log(lns.reduce((sum, ln) => sum + Math.exp(ln - most), 0) / lns.length)
}

// Likelihood ratio of the hybrid

/** Sums of squares about the null effect and about each alternative. */
export type VarianceSums = { pairs: number; about_null: number; about_alternatives: readonly number[] }

type VariancePrior = { null_effect: number; min_effect: number; noise: number }

const PRIOR_PAIRS = 6
/** In units of min_effect: with one alternative only, gains far above it would gather evidence no faster. */
const ALTERNATIVE_EFFECTS = [1, 2.5, 5]

export const NO_SUMS: VarianceSums = {
  pairs: 0,
  about_null: 0,
  about_alternatives: ALTERNATIVE_EFFECTS.map(() => 0),
}

/** A failed candidate ends this half of the evidence: an infinite loss has no likelihood. */
export function addToSums(
  sums: VarianceSums | null,
  difference: Difference,
  prior: VariancePrior,
): VarianceSums | null {
  if (sums === null || difference === null) return null
  return {
    pairs: sums.pairs + 1,
    about_null: sums.about_null + (difference - prior.null_effect) ** 2,
    about_alternatives: sums.about_alternatives.map(
      (sum, index) => sum + (difference - (ALTERNATIVE_EFFECTS[index] ?? 1) * prior.min_effect) ** 2,
    ),
  }
}

/**
 * ln of the GSPRT likelihood ratio with a variance prior (decision 2b, nu0 = 6, s0 = noise), the mean over
 * alternatives: [(nu0 s0^2 + S_null)/(nu0 s0^2 + S_alternative)]^((nu0 + n)/2).
 */
export function computeLnVarianceRatio(sums: VarianceSums, noise: number): number {
  const prior = PRIOR_PAIRS * noise ** 2
  const top = Math.log(prior + sums.about_null)
  const power = (PRIOR_PAIRS + sums.pairs) / 2
  return computeLnMeanOfAll(sums.about_alternatives.map(sum => power * (top - Math.log(prior + sum))))
}

// Levels

function requireWhole(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value
  throw new UserError(`${name} is ${value}, and has to be a whole number of at least ${least}`)
}

function requireShare(name: string, value: number): number {
  if (value > 0 && value < 1) return value
  throw new UserError(`${name} is ${value}, and has to lie between 0 and 1`)
}

/**
 * e-LOND: alpha_t = q (K + 1)/N for the next of at most N experiments when K were discoveries (docs/deciding.md,
 * How strict). At most a share q of all discoveries is false, under any dependence between them.
 */
export function computeCampaignLevel(of: { q: number; n: number; discoveries: number }): number {
  const found = requireWhole('discoveries', of.discoveries, 0)
  return Math.min((requireShare('q', of.q) * (found + 1)) / requireWhole('n', of.n, 1), of.q)
}

/** The level of the k-th variant of one idea: alpha 6/(pi^2 k^2), which adds up to alpha. */
export function computeFamilyLevel(alpha: number, k: number): number {
  return (requireShare('alpha', alpha) * 6) / (Math.PI * requireWhole('k', k, 1)) ** 2
}

/** The level of each of m required objectives: alpha/m. */
export function computeObjectiveLevel(alpha: number, m: number): number {
  return requireShare('alpha', alpha) / requireWhole('m', m, 1)
}

/**
 * The largest evidence that `pairs` pairs of a suite can give, so that a suite that can
 * never reach its threshold is refused before it costs anything. Pass/fail: every task is won; graded: every
 * difference is a gain and larger than all before.
 */
export function computeLargestSuiteEvidence(
  pairs: number,
  scores: 'pass-fail' | 'graded' = 'pass-fail',
): number {
  if (!Number.isInteger(pairs) || pairs < 0) throw new UserError(`a suite cannot have ${pairs} pairs`)
  const order = Array.from({ length: pairs }, (_, index) => index + 1)
  return scores === 'graded'
    ? toEvidence(computeLnEvidence(order, 0))
    : computeBettingEvidence(order.map(() => 1))
}
