import { namedSource } from '../holdout-source.ts'
import type { Finding } from '../problem.ts'
import { finding, type RuleContext } from './rule.ts'

const SOURCE = ['measurement', 'holdout', 'source']

export function holdoutHasAPlace({ spec }: RuleContext): Finding[] {
  const source = spec.measurement.holdout?.source ?? null
  if (source === null || namedSource(source) !== null) return []
  const expected = 'a branch, a ref in full (refs/...), or a variable in CAPITALS that names a directory'
  return [finding(SOURCE, JSON.stringify(source), expected, 'for example refs/holdout/a')]
}

/** What every execution may read is no holdout. */
export function holdoutStaysHidden({ spec }: RuleContext): Finding[] {
  const { holdout, env, env_file: file } = spec.measurement
  const source = holdout?.source ?? null
  const named = source === null ? null : namedSource(source)
  if (named === null || !('environment' in named)) return []
  if (![...env, ...(file?.keys ?? [])].includes(named.environment)) return []
  const found = `${named.environment}, which measurement.env or env_file lets every execution see`
  return [finding(SOURCE, found, 'a variable that is not let through', 'take it off that list')]
}
