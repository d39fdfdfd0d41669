import type { Campaign } from './campaign.ts'

/** The code of an alert that ends the alerts about a conflict or an unusable spec, and is not kept itself. */
export const RAISED_LIMIT_READABLE = 'sync-possible'

const RAISE_OBSTACLES: ReadonlySet<string> = new Set(['sync-conflict', 'sync-bad-spec'])

/** Why a limit that is raised on the default branch cannot be read there; null where nothing is in the way. */
export function findRaiseObstacle({ alerts }: Pick<Campaign, 'alerts'>): string | null {
  return alerts.findLast(({ code }) => RAISE_OBSTACLES.has(code))?.message ?? null
}

export function endRaiseObstacles(campaign: Campaign): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => !RAISE_OBSTACLES.has(code))
}
