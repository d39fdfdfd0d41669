import { formatClock } from './live-text.ts'

/** "42 s", "3 min", "3 h 10 min": as exact as a person plans with. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return 'less than 1 s'
  if (seconds < 90) return `${Math.round(seconds)} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`
}

/** How long measuring took, the same in every view. */
export function formatMeasuringTime(minutes: number): string {
  if (minutes > 0 && minutes < 1) return 'less than a minute'
  return minutes === 0 ? '0 min' : formatClock(60 * minutes)
}
