import { formatNumber, formatCount } from '../decide/wording.ts'
import type { Calibration } from '../model/campaign.ts'

/** How much identical copies of the base differ: every other difference is read beside it. */
export function describeCalibrationNoise(
  calibration: Pick<Calibration, 'noise' | 'scale'> | null,
): string | null {
  if (calibration === null || calibration.noise === null) return null
  const { pair_sd, pairs, jobs } = calibration.noise
  const spread = calibration.scale === 'log' ? `${(pair_sd * 100).toFixed(1)} %` : formatNumber(pair_sd)
  return `Noise: the base differs from itself by ${spread} (${formatCount(pairs, 'pair')} in ${formatCount(jobs, 'job')})`
}
