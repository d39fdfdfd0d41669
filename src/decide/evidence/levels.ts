import { UserError } from '../../errors.ts'

function requireWhole(name: string, value: number, least: number): number {
  if (Number.isInteger(value) && value >= least) return value
  throw new UserError(`${name} is ${value}, and has to be a whole number of at least ${least}`)
}

function requireShare(name: string, value: number): number {
  if (value > 0 && value < 1) return value
  throw new UserError(`${name} is ${value}, and has to lie between 0 and 1`)
}

/**
 * e-LOND (decision 3.5): alpha_t = q (K + 1)/N for the next of at most N experiments when K were discoveries, so
 * that at most a share q of all discoveries is false, whatever depends on whatever.
 */
export function computeCampaignLevel({
  q,
  n,
  discoveries,
}: {
  q: number
  n: number
  discoveries: number
}): number {
  const level =
    (requireShare('q', q) * (requireWhole('discoveries', discoveries, 0) + 1)) / requireWhole('n', n, 1)
  return Math.min(level, q)
}

/** The level of the k-th variant of one idea (decision 3.4): alpha 6/(pi^2 k^2), which adds up to alpha. */
export function computeFamilyLevel(alpha: number, k: number): number {
  return (requireShare('alpha', alpha) * 6) / (Math.PI * requireWhole('k', k, 1)) ** 2
}

/** The level of each of m required objectives (decision 3.4): alpha/m. */
export function computeObjectiveLevel(alpha: number, m: number): number {
  return requireShare('alpha', alpha) / requireWhole('m', m, 1)
}
