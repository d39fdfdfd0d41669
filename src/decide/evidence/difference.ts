import { HarnessError } from '../../errors.ts'

export type Direction = 'minimize' | 'maximize'
export type Scale = 'log' | 'linear'
/** How two values of a metric are compared; the scale is pinned at calibration. */
export type Measure = { direction: Direction; scale: Scale }

const GRID = 2 ** 40

function finite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new HarnessError(`a measured value is ${value}: a failed execution has to be given as null`)
}

function logarithm(value: number): number {
  if (value > 0) return Math.log(value)
  throw new HarnessError(`the metric is compared on a log scale, and a value of it is ${value}`, {
    example: 'a value above 0; a metric that can be 0 or less needs evidence.scale: linear',
  })
}

/** Rounded far below any noise, so that equal ratios are equal in whatever unit the metric is printed. */
function gridded(difference: number): number {
  return (Math.sign(difference) * Math.round(Math.abs(difference) * GRID)) / GRID
}

function plainDifference(scale: Scale, base: number, candidate: number): number {
  switch (scale) {
    case 'log':
      return gridded(logarithm(base) - logarithm(candidate))
    case 'linear':
      return finite(base - candidate)
    default:
      return scale satisfies never
  }
}

/**
 * The paired difference d (decision 3.1): ln(base) - ln(candidate) under log, base - candidate under linear,
 * turned so that positive is better whatever the direction. Exactly antisymmetric in its two values.
 */
export function signedDifference({ direction, scale }: Measure, base: number, candidate: number): number {
  const difference = plainDifference(scale, finite(base), finite(candidate))
  if (difference === 0) return 0
  return direction === 'minimize' ? difference : -difference
}
