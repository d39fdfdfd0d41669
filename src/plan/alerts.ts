import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

/** An alert is raised once for one thing: the ledger remembers which. */
export function raiseAlert(
  world: World,
  alert: { code: string; about: string | null; message: string },
): PlanStep[] {
  const known = world.campaign.alerts.some(({ code, about }) => code === alert.code && about === alert.about)
  if (known) return []
  return [{ step: 'event', draft: { kind: 'alert', cause: alert.about ?? world.campaign.started, ...alert } }]
}

export function pauseCampaignOnce(world: World, reason: string): PlanStep[] {
  if (world.campaign.status !== 'running') return []
  const cause = `pause at ${world.campaign.seq}`
  return [{ step: 'event', draft: { kind: 'campaign-paused', cause, reason, source: 'engine' } }]
}
