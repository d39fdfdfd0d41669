import type { Spec } from '../spec/schema.ts'

export type TieBreaker = { name: string; direction: Spec['metric']['primary']['direction'] }

/** `even`: no difference is shown. `missing`: there is no value to compare. */
export type TieComparison = 'better' | 'worse' | 'even' | 'missing'

export type DecidingTie = { name: string; is: Exclude<TieComparison, 'even'> }

type TiePolicy = Pick<Spec['policy'], 'tie_breakers'>

export function listTieBreakers(policy: TiePolicy): TieBreaker[] {
  return policy.tie_breakers.map(rule =>
    'lower' in rule
      ? { name: rule.lower, direction: 'minimize' }
      : { name: rule.higher, direction: 'maximize' },
  )
}

/**
 * The order of tie-breakers, for every rule: the first that is not even decides. So no gain of a later one outweighs
 * a loss of an earlier one, nor a value that is missing.
 */
export function findDecidingTie(
  policy: TiePolicy,
  compare: (tie: TieBreaker) => TieComparison,
): DecidingTie | null {
  for (const tie of listTieBreakers(policy)) {
    const is = compare(tie)
    if (is !== 'even') return { name: tie.name, is }
  }
  return null
}
