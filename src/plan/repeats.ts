import type { OrderId } from '../model/ids.ts'
import type { PlanAction } from './action.ts'

/**
 * What a process has done outside the ledger, or what was refused to it there, may not show at its next look: a list
 * lags, a text was cut, a conversation is locked. On the very same ledger it is not done again, so that a tick ends.
 */
export function listRepeatKeys(action: PlanAction): string[] {
  switch (action.do) {
    case 'pulls':
      return action.changes.map(change => JSON.stringify(change))
    case 'campaign-pull':
    case 'tell':
    case 'greet':
      return [JSON.stringify(action)]
    case 'dispatch':
      return [buildDispatchKey(action.order)]
    case 'commit':
    case 'cancel':
    case 'merge':
    case 'delete-branches':
    case 'advance-campaign-branch':
    case 'propose':
    case 'stop-asking':
      return []
    default:
      return action satisfies never
  }
}

export function buildDispatchKey(order: OrderId): string {
  return `dispatch ${order}`
}

export function removeRepeats(
  actions: readonly PlanAction[],
  done: ReadonlySet<string> | undefined,
): PlanAction[] {
  if (done === undefined || done.size === 0) return [...actions]
  return actions.flatMap((action): PlanAction[] => {
    if (action.do !== 'pulls') return listRepeatKeys(action).some(key => done.has(key)) ? [] : [action]
    const changes = action.changes.filter(change => !done.has(JSON.stringify(change)))
    return changes.length === 0 ? [] : [{ ...action, changes }]
  })
}
