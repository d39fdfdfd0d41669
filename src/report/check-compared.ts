import { listObjectives } from '../decide/objectives.ts'
import { listTieBreakers } from '../decide/tie-breakers.ts'
import { formatNumber } from '../decide/wording.ts'
import { listTimedDecisiveMetrics } from '../spec/decisive.ts'
import type { Spec } from '../spec/schema.ts'

export type ComparisonMode = 'once' | 'pairs' | 'once or pairs' | 'stored score'

/** A metric that can change a verdict, and how base and idea are compared on it. */
export interface ComparedMetric {
  name: string
  role: 'primary' | 'required' | 'guardrail' | 'tie-breaker'
  direction: 'minimize' | 'maximize'
  compared: ComparisonMode
}

/** `deterministic`: whether it was shown to repeat exactly; null where nobody looked. */
export function listComparedMetrics(spec: Spec, deterministic: boolean | null): ComparedMetric[] {
  const compared = selectComparisonMode(spec, deterministic)
  const objectives = listObjectives(spec.metric).map(({ name, role, direction }, at) => ({
    name,
    role: at === 0 ? ('primary' as const) : role,
    direction,
    compared,
  }))
  const ties = listTieBreakers(spec.policy).map(tie => ({ ...tie, role: 'tie-breaker' as const, compared }))
  return [...objectives, ...ties]
}

export function selectComparisonMode(spec: Spec, deterministic: boolean | null): ComparisonMode {
  const { stability, mode } = spec.measurement
  if (stability !== null) return 'stored score'
  if (mode === 'once' || deterministic === true) return 'once'
  const never = mode === 'paired' || listTimedDecisiveMetrics(spec).length > 0
  return never || deterministic === false ? 'pairs' : 'once or pairs'
}

export function renderComparedMetrics(spec: Spec, metrics: readonly ComparedMetric[]): string[] {
  const lines = metrics.map(({ name, role, direction, compared }) => {
    const better = direction === 'minimize' ? 'lower' : 'higher'
    return `compared: ${name} (${role}, ${better} is better), ${describeComparisonMode(spec, compared)}`
  })
  return [...lines, `smallest gain: ${describeSmallestGain(spec, metrics[0]?.compared ?? 'pairs')}`]
}

function describeComparisonMode({ measurement }: Spec, compared: ComparisonMode): string {
  switch (compared) {
    case 'once':
      return 'each idea run once, and a gain once more'
    case 'pairs':
      return 'in pairs of base and idea, until there is evidence'
    case 'once or pairs':
      return 'each idea run once if it repeats exactly, else in pairs of base and idea'
    case 'stored score': {
      const runs = `${measurement.stability?.mode ?? 'stable'} runs`
      return measurement.baseline === 'cached'
        ? `${runs} compared with a stored score`
        : `${runs} compared with runs of the base`
    }
    default:
      return compared satisfies never
  }
}

function describeSmallestGain(spec: Spec, compared: ComparisonMode): string {
  const { metric, measurement, evidence } = spec
  const { name } = metric.primary
  if (measurement.stability !== null) return describeStoredGain(name, measurement.stability)
  if (evidence.min_effect !== null && evidence.min_effect > 0) {
    const least = evidence.min_effect
    const unit =
      evidence.scale === 'linear'
        ? `${formatNumber(least)} ${name}`
        : `${formatNumber(least * 100)} % of the base`
    return `${unit} (evidence.min_effect)`
  }
  const always = `any, where ${name} repeats exactly`
  const noisy = '2 % of the base (the default of evidence.min_effect)'
  if (compared === 'once') return always
  return compared === 'pairs' ? noisy : `${always}; else ${noisy}`
}

function describeStoredGain(
  name: string,
  { comparison, noise_threshold }: NonNullable<Spec['measurement']['stability']>,
): string {
  return comparison.method === 'absolute'
    ? `more than ${formatNumber(noise_threshold)} ${name} (noise_threshold)`
    : `more than ${formatNumber(comparison.relative_threshold * 100)} % of the base (relative_threshold)`
}
