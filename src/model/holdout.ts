import type { Campaign } from './campaign.ts'
import type { HoldoutRule } from './order.ts'

/** Which holdout it is: another tree, or another place, is a fresh one whose uses are counted anew. */
export function buildHoldoutKey({ command, source }: Pick<HoldoutRule, 'command' | 'source'>): string {
  if (source === null) return `command ${command}`
  return 'tree' in source ? `tree ${source.tree}` : `environment ${source.environment}`
}

export function countHoldoutUses(
  { holdout_uses }: Pick<Campaign, 'holdout_uses'>,
  holdout: Pick<HoldoutRule, 'command' | 'source'>,
): number {
  return holdout_uses[buildHoldoutKey(holdout)] ?? 0
}
