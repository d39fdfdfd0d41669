import type { Report } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { NOT_NOISE_PROOF } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import type { StabilitySpec } from './ladder.ts'
import { lookUpMetric } from './lookup.ts'
import { listObjectives } from './objectives.ts'
import type { StabilityBaseline } from './stability-verdict.ts'
import { formatNumber } from './wording.ts'

const FLAG_WARNINGS = {
  unisolated: 'not isolated: the candidate ran without a user or container of its own',
  unreaped: 'processes may be left: it could not be proven that every process of an execution has ended',
  forgeable:
    'the score could be faked: the harness loads candidate code in its own process and has no separate score',
} as const satisfies Record<Report['flags'][number], string>

function computeSpread(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values)
}

/** A baseline whose repeats vary by more than what counts as a gain cannot tell such gains apart. */
function findNoisyBaseline(spec: Spec, snapshot: Snapshot): string[] {
  const { stability } = spec.measurement
  if (stability === null) return []
  return listObjectives(spec.metric).flatMap(({ name, judged }) => {
    const reading = lookUpMetric(snapshot, name, { judged, aggregation: stability.aggregation })
    if (reading === null || reading.samples.length === 0) return []
    const differs = computeSpread(reading.samples)
    const least = computeLeastGain(spec, stability, { judged, base: reading.value })
    if (differs <= least) return []
    const limit = `the ${formatNumber(least)} that count as a gain`
    return [`the baseline's repeats of ${name} differ by ${formatNumber(differs)}, more than ${limit}`]
  })
}

/** In metric units. */
function computeLeastGain(
  { metric }: Spec,
  stability: StabilitySpec,
  by: { judged: boolean; base: number },
): number {
  const { method, relative_threshold } = stability.comparison
  if (method !== 'absolute') return relative_threshold * Math.abs(by.base)
  return by.judged ? (metric.judge?.minimum_improvement ?? 0) : stability.noise_threshold
}

/** What a reader must know beside the verdict; `baseline` is null unless ce's rules compared with one. */
export function listWarnings(spec: Spec, report: Report, baseline: StabilityBaseline | null): string[] {
  const flags = [...new Set(report.flags)].map(flag => FLAG_WARNINGS[flag])
  if (baseline === null) return flags
  const compared = baseline.stored
    ? NOT_NOISE_PROOF
    : 'compared with one base run in the same job; not noise-proof'
  return [compared, ...findNoisyBaseline(spec, baseline.snapshot), ...flags]
}
