import { HarnessError } from '../../errors.ts'

export type MetricDirection = 'minimize' | 'maximize'
export type EvidenceScale = 'log' | 'linear'
/** How two values of a metric are compared; the scale is pinned at calibration. */
export type MetricMeasure = { direction: MetricDirection; scale: EvidenceScale }

const DIFFERENCE_GRID = 2 ** 40

function requireFinite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new HarnessError(`a measured value is ${value}: a failed execution has to be given as null`)
}

function computeLogarithm(value: number): number {
  if (value > 0) return Math.log(value)
  throw new HarnessError(`the metric is compared on a log scale, and a value of it is ${value}`, {
    example: 'a value above 0; a metric that can be 0 or less needs evidence.scale: linear',
  })
}

/** Rounded far below any noise, so that equal ratios are equal in whatever unit the metric is printed. */
function roundToGrid(difference: number): number {
  return (Math.sign(difference) * Math.round(Math.abs(difference) * DIFFERENCE_GRID)) / DIFFERENCE_GRID
}

function computePlainDifference(scale: EvidenceScale, base: number, candidate: number): number {
  switch (scale) {
    case 'log':
      return roundToGrid(computeLogarithm(base) - computeLogarithm(candidate))
    case 'linear':
      return requireFinite(base - candidate)
    default:
      return scale satisfies never
  }
}

/**
 * The paired difference d (decision 3.1): ln(base) - ln(candidate) under log, base - candidate under linear,
 * turned so that positive is better whatever the direction. Exactly antisymmetric in its two values.
 */
export function computeSignedDifference(
  { direction, scale }: MetricMeasure,
  base: number,
  candidate: number,
): number {
  const difference = computePlainDifference(scale, requireFinite(base), requireFinite(candidate))
  if (difference === 0) return 0
  return direction === 'minimize' ? difference : -difference
}
