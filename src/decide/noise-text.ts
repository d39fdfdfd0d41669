import type { Calibration, Noise } from '../model/campaign.ts'
import { numberText, plural } from './wording.ts'

/** A spread or a gain in words: a share under log, else in the metric's own units. */
export function sizeText(size: number, scale: Calibration['scale']): string {
  return scale === 'log' ? `${(size * 100).toFixed(1)} %` : numberText(Number(size.toPrecision(3)))
}

/** What calibration found, in one line: how noisy, how sure that is, and what it took. */
export function noiseText({ scale, noise }: { scale: Calibration['scale']; noise: Noise }): string {
  const { pair_sd, pair_sd_upper90: upper, pairs, jobs } = noise
  const most = upper === null ? '' : `at most ${sizeText(upper, scale)}, `
  const took = `${plural(pairs, 'pair')} in ${plural(jobs, 'job')}`
  return `pairs of the base with itself differ by ${sizeText(pair_sd, scale)} (${most}${took})`
}
