import type { Finding, SpecPath } from '../problem.ts'
import type { ParsedSpec, Rules } from '../schema.ts'

/** What a rule over several keys may look at: the values with defaults, and what the file itself says. */
export type RuleContext = {
  spec: ParsedSpec
  raw: unknown
  rules: Rules
  allowUncapped: boolean
}

export type Rule = { name: string; check(context: RuleContext): Finding[] }

export function finding(
  path: SpecPath,
  found: string,
  expected: string,
  fix: string,
  at: 'key' | 'value' = 'value',
): Finding {
  return { path, found, expected, fix, at }
}

/** Index of every entry whose name an earlier entry has. */
export function repeated(names: readonly string[]): number[] {
  return names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []))
}
