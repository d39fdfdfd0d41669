import { isBenchmarkFormat } from '../spec/benchmark-formats.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import type { Execution, Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { again, type Finding, finding } from './assessment.ts'
import { executionsOf } from './readings.ts'

type Case = { spec: Spec; report: Pick<Report, 'executions'>; label: Side }

/**
 * Invariant 5: a mean over benchmarks says nothing about the one that is not in it, so every execution of both sides
 * must have reported the very same ones.
 */
export function otherBenchmarks({ spec, report, label }: Case): Finding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const base = report.executions.filter(run => run.side === 'base' && counts(run))
  const own = executionsOf(report, label).filter(counts)
  const [first] = base.length > 0 ? base : own
  if (first === undefined) return null
  const names = printedNames(first.metrics)
  const unsteady = firstDifference(names, base)
  if (unsteady !== null && label !== 'base') return again(`the base itself varies: ${unsteady}`)
  const difference = unsteady ?? firstDifference(names, own)
  return difference === null ? null : lostBenchmarks(difference)
}

/** The same, where the base is only a stored snapshot. */
export function otherThanStored(spec: Spec, stored: Snapshot, candidate: Snapshot): Finding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const difference = differenceOf(namesIn(stored), namesIn(candidate))
  return difference === null ? null : lostBenchmarks(difference)
}

function lostBenchmarks(difference: string): Finding {
  return finding('error', `the benchmarks are not those of the base: ${difference}`, {
    failure_class: 'eval',
  })
}

function counts({ role, status }: Execution): boolean {
  return status === 'ok' && role !== 'smoke' && role !== 'holdout'
}

function firstDifference(names: ReadonlySet<string>, runs: readonly Execution[]): string | null {
  for (const { metrics } of runs) {
    const difference = differenceOf(names, printedNames(metrics))
    if (difference !== null) return difference
  }
  return null
}

function printedNames(metrics: Execution['metrics']): Set<string> {
  return new Set(Object.keys(metrics).filter(name => !BUILT_IN_METRICS.has(name)))
}

function namesIn({ metrics = {}, diagnostics = {} }: Snapshot): Set<string> {
  const names = [...Object.keys(metrics), ...Object.keys(diagnostics)]
  return new Set(names.filter(name => !BUILT_IN_METRICS.has(name)))
}

const SHOWN = 3

function differenceOf(base: ReadonlySet<string>, candidate: ReadonlySet<string>): string | null {
  const said = [
    listed(
      [...base].filter(name => !candidate.has(name)),
      'missing',
    ),
    listed(
      [...candidate].filter(name => !base.has(name)),
      'new',
    ),
  ].filter(part => part !== null)
  return said.length === 0 ? null : said.join('; ')
}

function listed(names: readonly string[], what: string): string | null {
  if (names.length === 0) return null
  const shown = names.toSorted().slice(0, SHOWN).join(', ')
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : ''
  return `${shown}${more} ${names.length === 1 ? 'is' : 'are'} ${what}`
}
