import type { SpecFinding, SpecPath } from '../problem.ts'
import type { ParsedSpec, SpecRules } from '../schema.ts'

/** What a rule over several keys may look at: the values with defaults, and what the file itself says. */
export type RuleContext = {
  spec: ParsedSpec
  raw: unknown
  rules: SpecRules
  allowUncapped: boolean
}

export type SpecRule = { name: string; check(context: RuleContext): SpecFinding[] }

export function createSpecFinding(
  path: SpecPath,
  found: string,
  expected: string,
  fix: string,
  at: 'key' | 'value' = 'value',
): SpecFinding {
  return { path, found, expected, fix, at }
}

/** Index of every entry whose name an earlier entry has. */
export function findRepeatedIndexes(names: readonly string[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []))
}
