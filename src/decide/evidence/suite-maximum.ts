import { UserError } from '../../errors.ts'
import { computeBettingEvidence } from './betting.ts'
import { toEvidence, computeLnEvidence } from './rank-evidence.ts'

/**
 * The largest evidence that `pairs` pairs of a suite can give (decision 3.1.3), so that one that can never reach
 * its threshold is refused before anything is spent. Pass/fail: every task is won; graded: every difference is
 * a gain and larger than all before.
 */
export function computeLargestSuiteEvidence(
  pairs: number,
  scores: 'pass-fail' | 'graded' = 'pass-fail',
): number {
  if (!Number.isInteger(pairs) || pairs < 0) throw new UserError(`a suite cannot have ${pairs} pairs`)
  const order = Array.from({ length: pairs }, (_, index) => index + 1)
  switch (scores) {
    case 'pass-fail':
      return computeBettingEvidence(order.map(() => 1))
    case 'graded':
      return toEvidence(computeLnEvidence(order, 0))
    default:
      return scores satisfies never
  }
}
