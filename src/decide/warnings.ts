import type { Report } from '../model/report.ts'
import type { Snapshot } from '../model/snapshot.ts'
import { NOT_NOISE_PROOF } from '../spec/notes.ts'
import type { Spec } from '../spec/schema.ts'
import { lookUp } from './lookup.ts'
import { objectivesOf } from './objectives.ts'
import type { Baseline } from './stability-verdict.ts'
import { numberText } from './wording.ts'

const FLAGS = {
  unisolated: 'unisolated: the candidate ran without a user or container of its own',
  unreaped: 'unreaped: processes of an execution could not be proven dead',
  forgeable: 'forgeable: the harness loads candidate code in its own process and has no separate score',
} as const satisfies Record<Report['flags'][number], string>

function spread(values: readonly number[]): number {
  return Math.max(...values) - Math.min(...values)
}

/** ce's noise_threshold is in metric units: a baseline that varies by more cannot tell such gains apart. */
function noisyBaseline(spec: Spec, snapshot: Snapshot): string[] {
  const { stability } = spec.measurement
  if (stability === null) return []
  return objectivesOf(spec.metric).flatMap(({ name, judged }) => {
    const reading = lookUp(snapshot, name, { judged, aggregation: stability.aggregation })
    const differs = reading === null || reading.samples.length === 0 ? 0 : spread(reading.samples)
    if (differs <= stability.noise_threshold) return []
    const limit = numberText(stability.noise_threshold)
    return [`the baseline's repeats of ${name} differ by ${numberText(differs)}, more than ${limit}`]
  })
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
