import { objectivesOf } from '../decide/objectives.ts'
import { tieBreakersOf } from '../decide/tie-breakers.ts'
import { numberText } from '../decide/wording.ts'
import { timedDecisive } from '../spec/decisive.ts'
import type { Spec } from '../spec/schema.ts'

export type Way = 'once' | 'pairs' | 'once or pairs' | 'stored score'

/** A metric that can change a verdict, and how base and idea are compared on it. */
export interface ComparedMetric {
  name: string
  role: 'primary' | 'required' | 'guardrail' | 'tie-breaker'
  direction: 'minimize' | 'maximize'
  compared: Way
}

/** `deterministic`: whether it was shown to repeat exactly; null where nobody looked. */
export function comparedMetrics(spec: Spec, deterministic: boolean | null): ComparedMetric[] {
  const compared = wayOf(spec, deterministic)
  const objectives = objectivesOf(spec.metric).map(({ name, role, direction }, at) => ({
    name,
    role: at === 0 ? ('primary' as const) : role,
    direction,
    compared,
  }))
  const ties = tieBreakersOf(spec.policy).map(tie => ({ ...tie, role: 'tie-breaker' as const, compared }))
  return [...objectives, ...ties]
}

export function wayOf(spec: Spec, deterministic: boolean | null): Way {
  const { stability, mode } = spec.measurement
  if (stability !== null) return 'stored score'
  if (mode === 'once' || deterministic === true) return 'once'
  const never = mode === 'paired' || timedDecisive(spec).length > 0
  return never || deterministic === false ? 'pairs' : 'once or pairs'
}

export function comparedText(spec: Spec, metrics: readonly ComparedMetric[]): string[] {
  const lines = metrics.map(({ name, role, direction, compared }) => {
    const better = direction === 'minimize' ? 'lower' : 'higher'
    return `compared: ${name} (${role}, ${better} is better), ${howText(spec, compared)}`
  })
  return [...lines, `smallest gain: ${smallestGain(spec, metrics[0]?.compared ?? 'pairs')}`]
}

function howText({ measurement }: Spec, compared: Way): string {
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

function smallestGain(spec: Spec, compared: Way): string {
  const { metric, measurement, evidence } = spec
  const { name } = metric.primary
  if (measurement.stability !== null) return storedGain(name, measurement.stability)
  if (evidence.min_effect !== null && evidence.min_effect > 0) {
    const least = evidence.min_effect
    const unit =
      evidence.scale === 'linear'
        ? `${numberText(least)} ${name}`
        : `${numberText(least * 100)} % of the base`
    return `${unit} (evidence.min_effect)`
  }
  const always = `any, where ${name} repeats exactly`
  const noisy = '2 % of the base (the default of evidence.min_effect)'
  if (compared === 'once') return always
  return compared === 'pairs' ? noisy : `${always}; else ${noisy}`
}

function storedGain(
  name: string,
  { comparison, noise_threshold }: NonNullable<Spec['measurement']['stability']>,
): string {
  return comparison.method === 'absolute'
    ? `more than ${numberText(noise_threshold)} ${name} (noise_threshold)`
    : `more than ${numberText(comparison.relative_threshold * 100)} % of the base (relative_threshold)`
}
