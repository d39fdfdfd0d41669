import type { Spec } from './schema.ts'

/** The part of a spec that measures; the harness hash (invariant 4) is taken over its canonical form. */
export type HarnessSection = Pick<Spec, 'measurement' | 'metric' | 'gates'>

export function harnessSection({ measurement, metric, gates }: Spec): HarnessSection {
  return structuredClone({ measurement, metric, gates })
}
