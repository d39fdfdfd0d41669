import { isBenchmarkFormat } from '../spec/benchmark-formats.ts'
import { BUILT_IN_METRICS } from '../spec/built-in-metrics.ts'
import type { Execution, Report, Side } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import type { Spec } from '../spec/schema.ts'
import { createRetryFinding, type AssessmentFinding, createFinding } from './assessment.ts'
import { listExecutions } from './readings.ts'

type BenchmarkCase = { spec: Spec; report: Pick<Report, 'executions'>; label: Side }

/**
 * Invariant 5: a mean over benchmarks says nothing about the one that is not in it, so every execution of both sides
 * must have reported the very same ones.
 */
export function findOtherBenchmarks({ spec, report, label }: BenchmarkCase): AssessmentFinding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const base = report.executions.filter(run => run.side === 'base' && isCounted(run))
  const own = listExecutions(report, label).filter(isCounted)
  const [first] = base.length > 0 ? base : own
  if (first === undefined) return null
  const names = listPrintedBenchmarks(first.metrics)
  const unsteady = findFirstDifference(names, base)
  if (unsteady !== null && label !== 'base') return createRetryFinding(`the base itself varies: ${unsteady}`)
  const difference = unsteady ?? findFirstDifference(names, own)
  return difference === null ? null : createBenchmarkFailure(difference)
}

/** The same, where the base is only a stored snapshot. */
export function findOtherThanStored(
  spec: Spec,
  stored: Snapshot,
  candidate: Snapshot,
): AssessmentFinding | null {
  if (!isBenchmarkFormat(spec.measurement.output)) return null
  const difference = describeNameDifference(listSnapshotNames(stored), listSnapshotNames(candidate))
  return difference === null ? null : createBenchmarkFailure(difference)
}

function createBenchmarkFailure(difference: string): AssessmentFinding {
  return createFinding('error', `the benchmarks are not those of the base: ${difference}`, {
    failure_class: 'eval',
  })
}

function isCounted({ role, status }: Execution): boolean {
  return status === 'ok' && role !== 'smoke' && role !== 'holdout'
}

function findFirstDifference(names: ReadonlySet<string>, runs: readonly Execution[]): string | null {
  for (const { metrics } of runs) {
    const difference = describeNameDifference(names, listPrintedBenchmarks(metrics))
    if (difference !== null) return difference
  }
  return null
}

function listPrintedBenchmarks(metrics: Execution['metrics']): Set<string> {
  return new Set(Object.keys(metrics).filter(name => !BUILT_IN_METRICS.has(name)))
}

function listSnapshotNames({ metrics = {}, diagnostics = {} }: Snapshot): Set<string> {
  const names = [...Object.keys(metrics), ...Object.keys(diagnostics)]
  return new Set(names.filter(name => !BUILT_IN_METRICS.has(name)))
}

const BENCHMARKS_SHOWN = 3

function describeNameDifference(base: ReadonlySet<string>, candidate: ReadonlySet<string>): string | null {
  const said = [
    formatNames(
      [...base].filter(name => !candidate.has(name)),
      'missing',
    ),
    formatNames(
      [...candidate].filter(name => !base.has(name)),
      'new',
    ),
  ].filter(part => part !== null)
  return said.length === 0 ? null : said.join('; ')
}

function formatNames(names: readonly string[], what: string): string | null {
  if (names.length === 0) return null
  const shown = names.toSorted().slice(0, BENCHMARKS_SHOWN).join(', ')
  const more = names.length > BENCHMARKS_SHOWN ? ` and ${names.length - BENCHMARKS_SHOWN} more` : ''
  return `${shown}${more} ${names.length === 1 ? 'is' : 'are'} ${what}`
}
