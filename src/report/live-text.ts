import type { Progress } from '../decide/progress.ts'
import { gainText } from '../decide/progress-text.ts'
import { numberText } from '../decide/wording.ts'
import type { Campaign, LiveOrder } from '../model/campaign.ts'
import type { Order } from '../model/order.ts'
import { expectedSeconds } from './expected-time.ts'

/** What this machine is busy with now. */
export interface UnderWayNow {
  orders: readonly LiveOrder[]
  /** Whether another process measures for this campaign. */
  elsewhere: boolean
  /** Proposers that are being asked. */
  asked: readonly string[]
  /** Since the first of them began. */
  seconds: number
}

/** The line of a run: what is running, how long, how long it usually takes, and the best so far. */
export function liveText(campaign: Campaign, progress: Progress, now: UnderWayNow): string {
  const expected = longest(now.orders.map(({ order }) => expectedSeconds(campaign, order)))
  const busy = now.orders.length > 0 || now.asked.length > 0
  const time = busy
    ? ` ${clockText(now.seconds)}${expected === null ? '' : ` of ~${clockText(expected)}`}`
    : ''
  return `${whatText(now)}${time}, ${bestText(progress)}`
}

function whatText({ orders, asked, elsewhere }: UnderWayNow): string {
  const named = [...new Set(orders.map(({ order }) => orderText(order)))]
  if (named.length > 0) return listText(named)
  if (asked.length > 0) return `asking ${listText([...new Set(asked)])}`
  return elsewhere ? 'waiting for another run' : 'looking'
}

const NAMED = 2

function listText(names: readonly string[]): string {
  const more = names.length - NAMED
  return `${names.slice(0, NAMED).join(', ')}${more > 0 ? ` +${more}` : ''}`
}

function orderText({ purpose, candidates }: Order): string {
  const ids = listText(candidates.map(({ label }) => label))
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

function bestText(progress: Progress): string {
  if (progress.is === 'nothing kept') return progress.value === null ? 'nothing measured yet' : 'no gain yet'
  const last = progress.is === 'numbers' ? progress.stretches.at(-1) : undefined
  const value = last === undefined ? '' : ` (${progress.metric} ${numberText(last.to)})`
  return `best ${gainText(progress)}${value}`
}

function longest(seconds: readonly (number | null)[]): number | null {
  const known = seconds.filter(each => each !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** 0:07, 12:00, 1:02:03. */
export function clockText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
