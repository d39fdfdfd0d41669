import { isMovable } from '../model/limit.ts'
import type { Campaign } from '../model/campaign.ts'
import { shortRef } from '../model/refs.ts'
import { nextTurn } from './who-goes-on.ts'

type Stopped = Pick<Campaign, 'status' | 'stop_code' | 'spec_path' | 'default_branch' | 'host'>

/** How a campaign that a limit of its spec has stopped goes on; null where none has. */
export function wayOnText(campaign: Stopped): string | null {
  const { status, stop_code: code } = campaign
  return status === 'stopped' && code !== null && isMovable(code) ? raiseText(campaign, code) : null
}

/** What a person does about one such limit, where the campaign lives. */
export function raiseText(campaign: Stopped, code: string): string {
  const { spec_path, default_branch } = campaign
  if (!isMovable(code))
    return 'no key of the spec moves that: winnow archive puts it aside, and another one can begin'
  const where = `in ${spec_path} on ${shortRef(default_branch)}`
  return `${whatText(code)} ${where}: ${nextTurn(campaign)} then goes on`
}

function whatText(code: string): string {
  if (code === 'target_reached') return 'aim further (target)'
  if (code === 'max_total_cost_usd') return 'raise metric.judge.max_total_cost_usd'
  const counted = code === 'max_hours' ? ' (hours count from the start of the campaign)' : ''
  return `raise stopping.${code}${counted}`
}
