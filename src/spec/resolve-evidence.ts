import { UserError } from '../errors.ts'
import type { Spec } from './schema.ts'

/** What only calibration knows. */
export type CalibratedScale = {
  singleMachine: boolean
  scale: 'log' | 'linear'
  deterministic: boolean
}

export type ResolvedEvidence = Omit<Spec['evidence'], 'min_effect' | 'null_effect' | 'scale'> & {
  min_effect: number
  null_effect: number
  scale: 'log' | 'linear'
}

export const DEFAULT_EFFECT = 0.02

/** A value of 0 or less has no logarithm; comparing differences instead is always possible. */
function resolveScale({ evidence, metric }: Spec, { scale }: CalibratedScale): 'log' | 'linear' {
  if (evidence.scale === 'auto') return scale
  if (evidence.scale === 'linear' || scale === 'log') return evidence.scale
  throw new UserError(`evidence.scale is log, but ${metric.primary.name} has values of 0 or less`, {
    place: { path: 'evidence.scale' },
    fix: 'set evidence.scale: linear, or auto',
  })
}

/** 2 % is a share, and on a linear scale there is no whole that it would be a share of. */
function resolveMinEffect(spec: Spec, scale: 'log' | 'linear', deterministic: boolean): number {
  if (spec.evidence.min_effect !== null) return spec.evidence.min_effect
  if (deterministic) return 0
  if (scale === 'log') return DEFAULT_EFFECT
  throw new UserError(`evidence.min_effect is not set, and on a linear scale 2 % has no meaning`, {
    place: { path: 'evidence.min_effect' },
    fix: `set it to the smallest change of ${spec.metric.primary.name} worth having, in its own units, with evidence.scale: linear`,
  })
}

function resolveNullEffect(spec: Spec, min: number, singleMachine: boolean): number {
  const effect = spec.evidence.null_effect ?? min / (singleMachine ? 2 : 4)
  if (effect < min || effect === 0) return effect
  throw new UserError(`evidence.null_effect ${effect} is not below min_effect ${min}`, {
    place: { path: 'evidence.null_effect' },
    fix: 'lower null_effect, or raise min_effect',
  })
}

/** The evidence section with everything pinned that the file leaves to calibration. */
export function resolveEvidence(spec: Spec, calibrated: CalibratedScale): ResolvedEvidence {
  const scale = resolveScale(spec, calibrated)
  const min_effect = resolveMinEffect(spec, scale, calibrated.deterministic)
  const null_effect = resolveNullEffect(spec, min_effect, calibrated.singleMachine)
  return { ...spec.evidence, scale, min_effect, null_effect }
}

const LONG_EXECUTION_SECONDS = 20

/** Warm-ups cost two executions a job, so short executions are worth more pairs. */
export function resolvePairsPerJob(
  evidence: Pick<Spec['evidence'], 'pairs_per_job'>,
  executionSeconds: number,
): number {
  if (evidence.pairs_per_job !== 'auto') return evidence.pairs_per_job
  return executionSeconds < LONG_EXECUTION_SECONDS ? 8 : 4
}
