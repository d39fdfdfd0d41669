import { MERGED_CAUSE } from '../model/fold.ts'
import type { Campaign } from '../model/campaign.ts'
import { toShortRef } from '../model/refs.ts'
import type { Spec } from '../spec/schema.ts'
import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

/** Put aside on purpose: nothing follows it by itself. */
const PUT_ASIDE_CODES: ReadonlySet<string> = new Set(['fresh', 'archived'])

/**
 * Merged, and the next campaign is to begin: the ledger says so first, also where the campaign had stopped before.
 * Once, so that whoever resumes it afterwards is heard.
 */
export function isRestartDue({ campaign, spec }: Pick<World, 'campaign' | 'spec'>): boolean {
  const { status, stop_code: code } = campaign
  if (spec.merge.on_merge !== 'restart' || status === 'none') return false
  return status !== 'stopped' || (code !== 'merged' && !PUT_ASIDE_CODES.has(code ?? ''))
}

/** Where no pull request tells, the default branch does: it contains the incumbent, and something was kept. */
export function recordMergedBranch(world: World): PlanStep[] {
  const { campaign, defaultTip, merged } = world
  const cause = `${MERGED_CAUSE}${defaultTip.commit}`
  if (merged !== true || !isRestartDue(world) || Object.hasOwn(campaign.heeded, cause)) return []
  const reason = `${toShortRef(campaign.default_branch)} at ${defaultTip.commit.slice(0, 10)} has all that was kept`
  return [{ step: 'event', draft: { kind: 'campaign-stopped', cause, code: 'merged', reason } }]
}

/** Nothing is left to do for it, and the next one may take its place. */
export function canRestart({ status, stop_code: code }: Campaign, { merge }: Pick<Spec, 'merge'>): boolean {
  return status === 'stopped' && code === 'merged' && merge.on_merge === 'restart'
}
