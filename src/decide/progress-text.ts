import { formatEffect } from './paired/effect-text.ts'
import type { CampaignProgress, ProgressAsDecided, ProgressByNumbers, ProgressByPairs } from './progress.ts'
import { formatMetricChange, formatNumber, formatPercent, formatCount } from './wording.ts'

const STRETCHES_SHOWN = 4
const MISSING_NAMED = 3

/** The progress of a campaign in one line, the same in every view: "bytes 900 -> 400 (-55.6 %)". */
export function formatProgress(progress: CampaignProgress): string {
  switch (progress.is) {
    case 'nothing kept':
      return progress.value === null
        ? `${progress.metric} is not measured yet`
        : `${progress.metric} ${formatNumber(progress.value)}, no gain yet`
    case 'not measured':
      return formatDecidedProgress(progress)
    case 'numbers':
      return `${formatNumbersProgress(progress)}${formatMissing(progress)}`
    case 'tested':
    case 'composed':
      return `${formatPairsProgress(progress)}${formatMissing(progress)}`
    default:
      return progress satisfies never
  }
}

/** As few characters as say it: "-55.6 %". */
export function formatGain(progress: CampaignProgress): string {
  if (progress.is === 'nothing kept') return progress.value === null ? 'not measured' : 'no gain yet'
  if (progress.is === 'not measured') {
    const { decided: effect } = progress
    return effect === null ? 'not confirmed' : `about ${formatChange(computeChange({ ...progress, effect }))}`
  }
  return formatChange(computeChange(progress))
}

function formatChange(change: ReturnType<typeof computeChange>): string {
  return 'share' in change ? formatPercent(change.share) : formatSigned(change.difference)
}

/** By how much the metric itself changed: as a share of what it was, or in its own unit. */
export function computeChange(
  progress:
    | Extract<CampaignProgress, { effect: number }>
    | (CampaignProgress & ProgressAsDecided & { effect: number }),
): { share: number } | { difference: number } {
  if (progress.is === 'numbers' && progress.stretches.length === 1) {
    const [{ from, to }] = progress.stretches
    return from === 0 ? { difference: to } : { share: (to - from) / Math.abs(from) }
  }
  const change = progress.direction === 'minimize' ? 0 - progress.effect : progress.effect
  return progress.scale === 'log' ? { share: Math.expm1(change) } : { difference: change }
}

/** Never without a number where there is one: fresh pairs follow with the next round, or at the end. */
function formatDecidedProgress(progress: CampaignProgress & ProgressAsDecided): string {
  const { metric: name, direction, scale, decided, missing } = progress
  const kept = `${formatCount(missing.length, 'change')} kept`
  if (decided === null) return `${kept}, not measured again yet`
  const said = formatEffect(decided, null, { name, direction, scale })
  return `${said} when ${missing.length === 1 ? 'it was' : 'they were'} kept, not measured again yet`
}

function formatNumbersProgress(progress: CampaignProgress & ProgressByNumbers): string {
  const { metric, stretches } = progress
  const [first] = stretches
  if (stretches.length === 1) return formatMetricChange(metric, first.from, first.to)
  const said = stretches.map(({ from, to }) => `${formatNumber(from)} -> ${formatNumber(to)}`)
  const few = said.length <= STRETCHES_SHOWN ? said : [...said.slice(0, 2), '…', ...said.slice(-1)]
  return `${metric} ${few.join(', ')} (${formatGain(progress)} in all)`
}

function formatPairsProgress(progress: CampaignProgress & ProgressByPairs): string {
  const { metric: name, direction, scale, effect, interval, pairs, parts, against } = progress
  const said = formatEffect(effect, interval, { name, direction, scale })
  const than = against === null ? '' : ` than ${against.slice(0, 12)}`
  const of = parts > 1 ? `, composed of ${parts} measurements` : ''
  return `${said}${than}${of}, ${formatCount(pairs, 'pair')}`
}

function formatMissing({ missing }: { missing: readonly string[] }): string {
  if (missing.length === 0) return ''
  const named = missing.slice(0, MISSING_NAMED).join(', ')
  const more = missing.length - MISSING_NAMED
  return `, without ${named}${more > 0 ? ` and ${more} more` : ''}: not measured yet`
}

function formatSigned(difference: number): string {
  return `${difference > 0 ? '+' : ''}${formatNumber(difference)}`
}
