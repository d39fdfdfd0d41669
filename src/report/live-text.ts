import type { CampaignProgress } from '../decide/progress.ts'
import { formatGain } from '../decide/progress-text.ts'
import { formatNumber } from '../decide/wording.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { estimateOrderSeconds } from './expected-time.ts'

/** What this machine is busy with now. */
export interface LiveState {
  orders: readonly LiveOrder[]
  /** Whether another process measures for this campaign. */
  elsewhere: boolean
  /** Proposers that are being asked. */
  asked: readonly string[]
  /** Since the first of them began. */
  seconds: number
}

/** The line of a run: what is running, how long, how long it usually takes, and the best so far. */
export function renderLiveLine(campaign: Campaign, progress: CampaignProgress, now: LiveState): string {
  const expected = findLongest(now.orders.map(({ order }) => estimateOrderSeconds(campaign, order)))
  const busy = now.orders.length > 0 || now.asked.length > 0
  const time = busy
    ? ` ${formatClock(now.seconds)}${expected === null ? '' : ` of ~${formatClock(expected)}`}`
    : ''
  return `${describeActivity(now)}${time}, ${describeBest(progress)}`
}

function describeActivity({ orders, asked, elsewhere }: LiveState): string {
  const named = [...new Set(orders.map(({ order }) => describeOrder(order)))]
  if (named.length > 0) return joinNames(named)
  if (asked.length > 0) return `asking ${joinNames([...new Set(asked)])}`
  return elsewhere ? 'waiting for another run' : 'looking'
}

const NAMED = 2

function joinNames(names: readonly string[]): string {
  const more = names.length - NAMED
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` +${more}` : ''}`
}

function describeOrder({ purpose, candidates }: Order): string {
  const ids = joinNames(candidates.map(({ label }) => label))
  switch (purpose) {
    case 'calibration':
      return 'calibrating'
    case 'experiment':
    case 'combination':
      return ids
    case 'holdout':
      return `${ids} on the holdout`
    case 'pick':
      return `${ids} alone`
    case 'effect':
    case 'regression':
      return 'effect of what was kept'
    case 'progression':
      return 'progress in all'
    case 'sync':
    case 'foreign':
    case 'revert':
    case 'baseline':
      return purpose
    default:
      return purpose satisfies never
  }
}

function describeBest(progress: CampaignProgress): string {
  if (progress.is === 'nothing kept') return progress.value === null ? 'nothing measured yet' : 'no gain yet'
  const last = progress.is === 'numbers' ? progress.stretches.at(-1) : undefined
  const value = last === undefined ? '' : ` (${progress.metric} ${formatNumber(last.to)})`
  return `best ${formatGain(progress)}${value}`
}

function findLongest(seconds: readonly (number | null)[]): number | null {
  const known = seconds.filter(each => each !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** 0:07, 12:00, 1:02:03. */
export function formatClock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
