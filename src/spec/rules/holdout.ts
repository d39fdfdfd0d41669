import { parseHoldoutSource } from '../holdout-source.ts'
import type { SpecFinding } from '../problem.ts'
import { createSpecFinding, type RuleContext } from './rule.ts'

const SOURCE = ['measurement', 'holdout', 'source']

export function requireHoldoutSource({ spec }: RuleContext): SpecFinding[] {
  const source = spec.measurement.holdout?.source ?? null
  if (source === null || parseHoldoutSource(source) !== null) return []
  const expected = 'a branch, a ref in full (refs/...), or a variable in CAPITALS that names a directory'
  return [createSpecFinding(SOURCE, JSON.stringify(source), expected, 'for example refs/holdout/a')]
}

/** What every execution may read is no holdout. */
export function requireHiddenHoldout({ spec }: RuleContext): SpecFinding[] {
  const { holdout, env, env_file: file } = spec.measurement
  const source = holdout?.source ?? null
  const named = source === null ? null : parseHoldoutSource(source)
  if (named === null || !('environment' in named)) return []
  if (![...env, ...(file?.keys ?? [])].includes(named.environment)) return []
  const found = `${named.environment}, which measurement.env or env_file lets every execution see`
  return [createSpecFinding(SOURCE, found, 'a variable that is not let through', 'take it off that list')]
}
