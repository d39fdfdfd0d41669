import type { Campaign } from './campaign.ts'
import type { EventDraft } from './event.ts'
import type { SyncObstacle } from './event-schemas.ts'
import { type Experiment, isAwaitingPermission } from './experiment.ts'
import { type Oid, toShortRef } from './ids.ts'

// Experiments that wait for a sync

type SyncWaiter = Pick<Experiment, 'status' | 'head' | 'needs_permission' | 'allowed_head' | 'awaits_sync'>

/** True when the current head cannot be measured before a person merges the default branch. */
export function isAwaitingSync(experiment: SyncWaiter): boolean {
  const { status, head, awaits_sync: awaited } = experiment
  return status === 'queued' && head !== null && awaited?.head === head && !isAwaitingPermission(experiment)
}

export function buildMergeCommand(
  { default_branch }: Pick<Campaign, 'default_branch'>,
  optimize: string,
): string {
  return `git switch ${optimize} && git merge --no-ff ${toShortRef(default_branch)} && git push`
}

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
        because: `${main} conflicts with kept changes`,
        next: `merge ${optimize} into ${main}, or resolve the conflict on ${main}`,
      }
    case 'sync-bad-spec':
      return { because: `the spec on ${main} cannot be used`, next: `fix the spec on ${main}` }
    case 'sync-failed':
      return {
        because: `${main} fails together with the kept changes`,
        next: `fix ${main}, or revert the commit that breaks it`,
      }
    default:
      return obstacle satisfies never
  }
}

// Syncs that the remote rejected

/** GitHub rejects pushes of changed workflow files that use a job's own token. */
const SYNC_REFUSED = 'sync-workflows'
const SENTENCE_END = '. '
const WORKFLOW_REFUSAL = /refusing to allow .* to create or update workflow/

/** Returns the default branch's tip whose push the remote rejected because of workflow files. */
export function findRefusedSync(message: string, drafts: readonly EventDraft[]): Oid | null {
  return WORKFLOW_REFUSAL.test(message) ? findSyncTip(drafts) : null
}

export function findSyncTip(drafts: readonly EventDraft[]): Oid | null {
  for (const draft of drafts) {
    if (draft.kind === 'synced') return draft.default_tip
    if (draft.kind === 'order-issued' && draft.purpose === 'sync') return draft.cause
  }
  return null
}

/** Raised once for each tip, with instructions for a person. winnow does not retry the tip by itself. */
export function buildRefusedSyncAlert(
  { default_branch }: Pick<Campaign, 'default_branch'>,
  { tip, optimize, words, byApp }: { tip: Oid; optimize: string; words: string; byApp: boolean },
): Pick<EventDraft<'alert'>, 'code' | 'about' | 'message'> {
  const [main, into] = [toShortRef(default_branch), toShortRef(optimize)]
  const first = words.split('\n').find(line => WORKFLOW_REFUSAL.test(line)) ?? words
  const sentences = [
    `${main} at ${tip.slice(0, 10)} changes workflow files, which ${byApp ? 'app-token' : 'the token of this job'} may not push`,
    'The campaign continues without them',
    `Merge ${main} into ${into} yourself: ${buildMergeCommand({ default_branch }, into)}`,
    `Or give ${byApp ? 'that App' : 'winnow, as app-token, the token of a GitHub App with'} \`workflows\`: the next commit on ${main} is then merged in`,
    `GitHub says: ${first.trim()}`,
  ]
  return { code: SYNC_REFUSED, about: tip, message: sentences.join(SENTENCE_END) }
}

/** Returns the latest rejected sync that waits for a person. A later merge removes its alert. */
export function findRefusedSyncAlert({
  alerts,
}: Pick<Campaign, 'alerts'>): { tip: Oid; sentences: string[] } | null {
  const last = alerts.findLast(({ code }) => code === SYNC_REFUSED)
  return last?.about == null ? null : { tip: last.about, sentences: last.message.split(SENTENCE_END) }
}

// Limits raised on the default branch

/** Ends the alerts about a conflict or an unusable spec. The code itself is not kept. */
export const RAISED_LIMIT_READABLE = 'sync-possible'

export const RAISE_OBSTACLES: readonly string[] = ['sync-conflict', 'sync-bad-spec']

/** Explains why a raised limit on the default branch cannot be read; null when it can. */
export function findRaiseObstacle({ alerts }: Pick<Campaign, 'alerts'>): string | null {
  return alerts.findLast(({ code }) => RAISE_OBSTACLES.includes(code))?.message ?? null
}

export function dropAlerts(campaign: Pick<Campaign, 'alerts'>, codes: readonly string[]): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => !codes.includes(code))
}

// Runs of GitHub Actions without result

export const MEASURING_FAILED = 'measuring-failed'
export const ASKING_FAILED = 'asking-failed'

const ACTIONS_RUN = /^actions:\d+/
const FAILURE_ALERTS = { fruitless_measuring: MEASURING_FAILED, fruitless_asking: ASKING_FAILED } as const

type FruitlessWork = keyof typeof FAILURE_ALERTS

/** Counts several orders or proposal requests of one run as one failure. */
export function countFruitlessRun(
  campaign: Pick<Campaign, FruitlessWork>,
  work: FruitlessWork,
  { run_id, at }: { run_id: string | null; at: string },
): void {
  const [run] = ACTIONS_RUN.exec(run_id ?? '') ?? []
  const before = campaign[work]
  if (run === undefined || before?.run_id === run) return
  campaign[work] = { times: (before?.times ?? 0) + 1, run_id: run, at }
}

export function endFruitlessRuns(
  campaign: Pick<Campaign, FruitlessWork | 'alerts'>,
  work: FruitlessWork,
): void {
  campaign[work] = null
  dropAlerts(campaign, [FAILURE_ALERTS[work]])
}

/** Whether the next scheduled run may be delayed because of these failures. */
export function hasFruitlessRuns(campaign: Pick<Campaign, FruitlessWork>): boolean {
  return campaign.fruitless_measuring !== null || campaign.fruitless_asking !== null
}

// Remote machines

export const DISPATCH_REFUSED = 'dispatch-refused'

/** A run whose jobs wait for a machine; `about` is the run's id. */
export const NO_MACHINE = 'no-machine'
