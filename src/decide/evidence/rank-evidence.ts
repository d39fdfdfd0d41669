/** A paired difference as it is stored: null where the candidate failed, a loss greater than any other. */
export type Difference = number | null

/** ln of the product of each bet so far. */
export type LnBets = readonly [number, number]

const RANK_BETS: LnBets = [0.7, 1.5]
export const NO_BETS: LnBets = [0, 0]

/** ln(1 + exp(x)) without overflow. */
function computeSoftplus(x: number): number {
  return x > 0 ? x + Math.log1p(Math.exp(-x)) : Math.log1p(Math.exp(x))
}

function computeLnFactor(bet: number, z: number): number {
  return Math.LN2 - computeSoftplus(-2 * bet * z)
}

export function toComparable(difference: Difference | undefined): number {
  return difference ?? Number.NEGATIVE_INFINITY
}

/**
 * z of the difference `last` among those from `from` up to it, about theta: its sign times 2 r/(i + 1), where r is the
 * rank of |d - theta| at the moment it arrives (ties count one half). Ranks of earlier pairs never change, so
 * one more pair costs one pass.
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
 * The sign-symmetric rank e-process (decision 3.2), as ln E, for H0: effect <= theta0:
 * E = mean over c in {0.7, 1.5} of prod 2/(1 + exp(-2 c z_j)). Identical behaviour in an order drawn by coin
 * makes each sign fair given the sizes, so E stays fair whatever drift, spikes or tails; one pair at most
 * doubles it. No pair: ln E = 0.
 */
export function computeLnEvidence(differences: readonly Difference[], theta0: number): number {
  return computeLnEvidencePath(differences, theta0).at(-1) ?? 0
}

/** E from ln E; never infinite, so that it can be stored. */
export function toEvidence(ln: number): number {
  return Math.min(Math.exp(ln), Number.MAX_VALUE)
}
