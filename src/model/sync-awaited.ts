import type { Campaign } from './campaign.ts'
import type { Experiment } from './experiment.ts'
import { isAwaitingPermission } from './permission.ts'
import { toShortRef } from './refs.ts'

/** What keeps the default branch from being merged in before a person does something, by the code of its alert. */
export const SYNC_OBSTACLES = ['sync-workflows', 'sync-conflict', 'sync-bad-spec', 'sync-failed'] as const
export type SyncObstacle = (typeof SYNC_OBSTACLES)[number]

type SyncWaiter = Pick<Experiment, 'status' | 'head' | 'stranger' | 'allowed_head' | 'awaits_sync'>

/** Whether the head it has now cannot be measured before the default branch is merged in, which a person has to do. */
export function isAwaitingSync(experiment: SyncWaiter): boolean {
  const { status, head, awaits_sync: awaited } = experiment
  return status === 'queued' && head !== null && awaited?.head === head && !isAwaitingPermission(experiment)
}

/** A person does it on the optimize branch, in a clone of theirs. */
export function buildMergeCommand(
  { default_branch }: Pick<Campaign, 'default_branch'>,
  optimize: string,
): string {
  return `git switch ${optimize} && git merge --no-ff ${toShortRef(default_branch)} && git push`
}

/** What is in the way, and what helps. */
export function describeSyncObstacle(
  campaign: Pick<Campaign, 'default_branch'>,
  { optimize, obstacle }: { optimize: string; obstacle: SyncObstacle },
): { because: string; next: string } {
  const main = toShortRef(campaign.default_branch)
  switch (obstacle) {
    case 'sync-workflows':
      return {
        because: `its commits are on top of ${main}, which changes workflow files that winnow may not push`,
        next: buildMergeCommand(campaign, optimize),
      }
    case 'sync-conflict':
      return {
        because: `${main} conflicts with what was kept`,
        next: `merge ${optimize} into ${main}, or change there what is in the way`,
      }
    case 'sync-bad-spec':
      return { because: `the spec on ${main} cannot be used`, next: `mend the spec on ${main}` }
    case 'sync-failed':
      return {
        because: `${main} does not pass together with what was kept`,
        next: `mend ${main}, or take back there what breaks it`,
      }
    default:
      return obstacle satisfies never
  }
}
