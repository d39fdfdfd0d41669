import { formatNoise } from '../decide/noise-text.ts'
import type { Calibration } from '../model/campaign.ts'

/** What a noisy campaign's evidence rests on, in one line; null where nothing is noisy, or nobody looked yet. */
export function describeNoisyCalibration({
  scale,
  noise,
}: Pick<Calibration, 'scale' | 'noise'>): string | null {
  return noise === null ? null : `noisy, ${formatNoise({ scale, noise })}, ${scale} scale, fair to both sides`
}

/** The same for the log, after what was known before: why it was not taken to repeat exactly. */
export function describeCalibrationResult(
  found: Pick<Calibration, 'deterministic' | 'scale' | 'noise' | 'reason'>,
): string {
  const { deterministic, scale, noise, reason } = found
  if (noise === null) return `${deterministic ? 'deterministic' : 'noisy'}, ${reason}`
  return `noisy, ${reason}, ${scale} scale, fair to both sides`
}
