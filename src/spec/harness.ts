import type { Spec } from './schema.ts'

/**
 * The part of a spec that measures; the harness hash (invariant 4) is taken over its canonical form. A holdout
 * is asked by orders that carry its terms: a fresh one voids nothing that was measured with the harness.
 */
export type HarnessSection = Pick<Spec, 'measurement' | 'metric' | 'gates'>

export function getHarnessSection({ measurement, metric, gates }: Spec): HarnessSection {
  return structuredClone({ measurement: { ...measurement, holdout: null }, metric, gates })
}
