import type { Calibration, Noise } from '../model/campaign.ts'
import { formatNumber, formatCount } from './wording.ts'

/** A spread or a gain in words: a share under log, else in the metric's own units. */
export function formatSize(size: number, scale: Calibration['scale']): string {
  return scale === 'log' ? `${(size * 100).toFixed(1)} %` : formatNumber(Number(size.toPrecision(3)))
}

/** What calibration found, in one line: how noisy, how sure that is, and what it took. */
export function formatNoise({ scale, noise }: { scale: Calibration['scale']; noise: Noise }): string {
  const { pair_sd, pair_sd_upper90: upper, pairs, jobs } = noise
  const most = upper === null ? '' : `at most ${formatSize(upper, scale)}, `
  const took = `${formatCount(pairs, 'pair')} in ${formatCount(jobs, 'job')}`
  return `pairs of the base with itself differ by ${formatSize(pair_sd, scale)} (${most}${took})`
}
