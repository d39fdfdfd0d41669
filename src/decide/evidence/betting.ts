import { UserError } from '../../errors.ts'
import { toEvidence } from './rank-evidence.ts'

const BETTING_STAKES = [0.15, 0.3, 0.5, 0.75]

function computeLnProduct(differences: readonly number[], m0: number, bet: number): number {
  return differences.reduce(
    (ln, difference) => ln + Math.log1p((bet * (difference - m0)) / (1 + Math.abs(m0))),
    0,
  )
}

/**
 * The betting e-process for bounded scores (decision 2b, Waudby-Smith and Ramdas), for pass/fail tasks:
 * differences in [-1, 1], H0: mean <= m0, E = mean over b in {.15, .3, .5, .75} of
 * prod (1 + b (d - m0)/(1 + |m0|)).
 */
export function computeBettingEvidence(differences: readonly number[], m0 = 0): number {
  const outside = differences.find(difference => !(Math.abs(difference) <= 1))
  if (outside !== undefined) {
    throw new UserError(`a difference of scores is ${outside}, and has to lie between -1 and 1`)
  }
  if (!(Math.abs(m0) < 1)) throw new UserError(`m0 is ${m0}, and has to lie between -1 and 1`)
  const lns = BETTING_STAKES.map(bet => computeLnProduct(differences, m0, bet))
  const most = Math.max(...lns)
  return toEvidence(
    most + Math.log(lns.reduce((sum, ln) => sum + Math.exp(ln - most), 0) / BETTING_STAKES.length),
  )
}
