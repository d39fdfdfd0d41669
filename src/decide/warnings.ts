import type { Report } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { NOT_NOISE_PROOF } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import type { Stability } from './ladder.ts'
import { lookUp } from './lookup.ts'
import { objectivesOf } from './objectives.ts'
import type { Baseline } from './stability-verdict.ts'
import { numberText } from './wording.ts'

const FLAGS = {
  unisolated: 'not isolated: the candidate ran without a user or container of its own',
  unreaped: 'processes may be left: it could not be proven that every process of an execution has ended',
  forgeable:
    'the score could be faked: the harness loads candidate code in its own process and has no separate score',
} as const satisfies Record<Report['flags'][number], string>

function spread(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values)
}

/** A baseline whose repeats vary by more than what counts as a gain cannot tell such gains apart. */
function noisyBaseline(spec: Spec, snapshot: Snapshot): string[] {
  const { stability } = spec.measurement
  if (stability === null) return []
  return objectivesOf(spec.metric).flatMap(({ name, judged }) => {
    const reading = lookUp(snapshot, name, { judged, aggregation: stability.aggregation })
    if (reading === null || reading.samples.length === 0) return []
    const differs = spread(reading.samples)
    const least = leastGain(spec, stability, { judged, base: reading.value })
    if (differs <= least) return []
    const limit = `the ${numberText(least)} that count as a gain`
    return [`the baseline's repeats of ${name} differ by ${numberText(differs)}, more than ${limit}`]
  })
}

/** In metric units. */
function leastGain({ metric }: Spec, stability: Stability, by: { judged: boolean; base: number }): number {
  const { method, relative_threshold } = stability.comparison
  if (method !== 'absolute') return relative_threshold * Math.abs(by.base)
  return by.judged ? (metric.judge?.minimum_improvement ?? 0) : stability.noise_threshold
}

/** What a reader must know beside the verdict; `baseline` is null unless ce's rules compared with one. */
export function warningsOf(spec: Spec, report: Report, baseline: Baseline | null): string[] {
  const flags = [...new Set(report.flags)].map(flag => FLAGS[flag])
  if (baseline === null) return flags
  const compared = baseline.stored
    ? NOT_NOISE_PROOF
    : 'compared with one base run in the same job; not noise-proof'
  return [compared, ...noisyBaseline(spec, baseline.snapshot), ...flags]
}
