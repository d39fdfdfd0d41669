import type { Execution, Report } from '../model/report.ts'
import type { Spec } from '../spec/schema.ts'
import { findFailure } from './failures.ts'
import { listExecutions, readNumber } from './readings.ts'
import { describeUnsteadyHarness } from './unsteady-harness.ts'
import { listDecisiveMetrics } from './tie-breakers.ts'
import { formatNumber, formatCount } from './wording.ts'

export type CalibrationResult = {
  deterministic: boolean
  scale: 'log' | 'linear'
  /** The base itself does not work: no campaign can start. */
  failed: boolean
  reason: string
  values: Record<string, number[]>
}

const BUILT_IN_NAMES: readonly string[] = ['wall_seconds', 'cpu_seconds', 'max_rss_mb']

function collectMetricValues(names: readonly string[], runs: readonly Execution[]): Record<string, number[]> {
  const entries = names.map(name => {
    const values = runs.map(run => readNumber(run, name)).filter(value => value !== null)
    return [name, values] as const
  })
  return Object.fromEntries(entries)
}

function selectPrimaryScale(spec: Spec, primary: readonly number[]): 'log' | 'linear' {
  if (spec.evidence.scale !== 'auto') return spec.evidence.scale
  return primary.length > 0 && primary.every(value => value > 0) ? 'log' : 'linear'
}

function describeCalibrationFailure(
  spec: Spec,
  report: Report,
  values: CalibrationResult['values'],
  runs: number,
): string | null {
  const unsteady = describeUnsteadyHarness(report, { most: 1 })
  if (unsteady !== null) return unsteady
  const failure = findFailure({ spec, report, label: 'base' })
  if (failure !== null) return `the base does not pass: ${failure.reason}`
  if (runs === 0) return 'the report has no run of the base'
  const missing = Object.keys(values).filter(name => values[name]?.length !== runs)
  if (missing.length > 0) return `missing metric: ${missing.join(', ')}`
  const primary = values[spec.metric.primary.name] ?? []
  if (spec.evidence.scale === 'log' && primary.some(value => value <= 0)) {
    return `evidence.scale is log, but ${spec.metric.primary.name} is not always above 0`
  }
  return null
}

/** Why a harness that works cannot be called deterministic; null when it can. */
function explainVariation(values: CalibrationResult['values'], runs: readonly Execution[]): string | null {
  const names = Object.keys(values)
  const timed = names.find(name => BUILT_IN_NAMES.includes(name))
  if (timed !== undefined) return `${timed} is never deterministic`
  const seeds = new Set(runs.map(run => run.seed)).size
  const builds = new Set(runs.map(run => run.build)).size
  if (seeds < 2 || builds < 2) return 'not shown for two seeds and two builds'
  const unsteady = names.find(name => new Set(values[name]).size > 1)
  if (unsteady === undefined) return null
  const seen = values[unsteady] ?? []
  return `${unsteady} varies from ${formatNumber(Math.min(...seen))} to ${formatNumber(Math.max(...seen))}`
}

/** Step 0 of a campaign: does the same tree give the same numbers, whatever the seed and the build? */
export function calibrateHarness(spec: Spec, report: Report): CalibrationResult {
  const runs = listExecutions(report, 'base', 'sample', 'repeat')
  const values = collectMetricValues(listDecisiveMetrics(spec), runs)
  const scale = selectPrimaryScale(spec, values[spec.metric.primary.name] ?? [])
  const failure = describeCalibrationFailure(spec, report, values, runs.length)
  if (failure !== null) return { deterministic: false, scale, failed: true, reason: failure, values }
  const reason = explainVariation(values, runs)
  if (reason !== null) return { deterministic: false, scale, failed: false, reason, values }
  const same = `equal in ${formatCount(runs.length, 'run')} with different seeds and builds`
  return { deterministic: true, scale, failed: false, reason: same, values }
}
