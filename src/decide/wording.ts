import type { Calibration, Noise } from '../model/campaign.ts'

/** Beyond 15 digits a whole number is not exact any more. */
const EXACT_BELOW = 1e15

/** Six significant digits, and all digits of a whole part, which may be a count. */
export function formatNumber(value: number): string {
  const size = Math.abs(value)
  const whole = Number.isInteger(value) || size >= 1e5
  return String(whole && size < EXACT_BELOW ? Math.round(value) : Number(value.toPrecision(6)))
}

/** "-8.3 %", with two digits where one decimal would show nothing. */
export function formatPercent(fraction: number): string {
  const percent = fraction * 100
  const small = percent !== 0 && Math.abs(percent) < 0.1
  const digits = small ? Number(percent.toPrecision(2)).toString() : percent.toFixed(1)
  return `${percent > 0 ? '+' : ''}${digits} %`
}

/** "bytes 1200 -> 1100 (-8.3 %)"; without the percentage where the base is 0. */
export function formatMetricChange(name: string, base: number, candidate: number): string {
  const fraction = (candidate - base) / Math.abs(base)
  const change = Number.isFinite(fraction) ? ` (${formatPercent(fraction)})` : ''
  return `${name} ${formatNumber(base)} -> ${formatNumber(candidate)}${change}`
}

/** A share too small for one decimal: "0.0003 %". */
export function formatTolerance(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`
}

export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Rounds to significant digits. */
export function formatRounded(value: number, digits: number): string {
  return formatNumber(Number(value.toPrecision(digits)))
}

/** More than any harness measures, and fewer than sums of decimals get wrong: 0.5099999999999999 is 0.51. */
const VIEWED_DIGITS = 12

/** Every number of a view or of a file for people. No decision reads these numbers. */
export function roundNumbers<T>(view: T): T {
  return roundEach(view) as T
}

function roundEach(value: unknown): unknown {
  if (typeof value === 'number') return roundNumber(value)
  if (Array.isArray(value)) return value.map(roundEach)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, roundEach(each)]))
}

function roundNumber(value: number): number {
  return Number.isInteger(value) || !Number.isFinite(value) ? value : Number(value.toPrecision(VIEWED_DIGITS))
}

/** A spread or a gain: a share under log, else in the metric's own units. */
export function formatSize(size: number, scale: Calibration['scale']): string {
  return scale === 'log' ? `${(size * 100).toFixed(1)} %` : formatRounded(size, 3)
}

export function formatNoise({ scale, noise }: { scale: Calibration['scale']; noise: Noise }): string {
  const { pair_sd, pair_sd_upper90: upper, pairs, jobs } = noise
  const most = upper === null ? '' : `at most ${formatSize(upper, scale)}, `
  const took = `${formatCount(pairs, 'pair')} in ${formatCount(jobs, 'job')}`
  return `pairs of the base with itself differ by ${formatSize(pair_sd, scale)} (${most}${took})`
}
