import type { Campaign } from './campaign.ts'
import type { EventDraft } from './event.ts'
import { type Experiment, isAwaitingPermission } from './experiment.ts'
import { isActionsRun, type Oid, toShortRef } from './ids.ts'

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

/** GitHub lets no job's own token bring workflow files to a branch that has others. */
const SYNC_REFUSED = 'sync-workflows'
const SENTENCE_END = '. '
const WORKFLOW_REFUSAL = /refusing to allow .* to create or update workflow/

/** The default branch's tip that a transaction would have brought, had the remote let it: by what it was to record. */
export function findRefusedSync(message: string, drafts: readonly EventDraft[]): Oid | null {
  return WORKFLOW_REFUSAL.test(message) ? findSyncTip(drafts) : null
}

/** The same, whether it was refused or not: what is to be recorded adopts a sync, or has one measured. */
export function findSyncTip(drafts: readonly EventDraft[]): Oid | null {
  for (const draft of drafts) {
    if (draft.kind === 'synced') return draft.default_tip
    if (draft.kind === 'order-issued' && draft.purpose === 'sync') return draft.cause
  }
  return null
}

/** Said once for each tip, and with it what a person can do: nothing of it is tried again by itself. */
export function buildRefusedSyncAlert(
  { default_branch }: Pick<Campaign, 'default_branch'>,
  { tip, optimize, words, byApp }: { tip: Oid; optimize: string; words: string; byApp: boolean },
): Pick<EventDraft<'alert'>, 'code' | 'about' | 'message'> {
  const [main, into] = [toShortRef(default_branch), toShortRef(optimize)]
  const first = words.split('\n').find(line => WORKFLOW_REFUSAL.test(line)) ?? words
  const said = [
    `${main} at ${tip.slice(0, 10)} changes workflow files, which ${byApp ? 'app-token' : 'the token of this job'} may not push`,
    'The campaign goes on without them',
    `Merge ${main} into ${into} yourself: ${buildMergeCommand({ default_branch }, into)}`,
    `Or give ${byApp ? 'that App' : 'winnow, as app-token, the token of a GitHub App with'} \`workflows\`: the next commit on ${main} is then merged in`,
    `GitHub says: ${first.trim()}`,
  ]
  const message = said.join(SENTENCE_END)
  return { code: SYNC_REFUSED, about: tip, message }
}

/** What was refused and waits for a person; null once anything was merged in since. */
export function findRefusedSyncAlert({
  alerts,
}: Pick<Campaign, 'alerts'>): { tip: Oid; sentences: string[] } | null {
  const last = alerts.findLast(({ code }) => code === SYNC_REFUSED)
  return last?.about == null ? null : { tip: last.about, sentences: last.message.split(SENTENCE_END) }
}

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

/** Runs of GitHub Actions in a row that did one thing in vain. */
export interface FruitlessRuns {
  times: number
  /** The latest of them. */
  run_id: string
  at: string
}

export const MEASURING_FAILED = 'measuring-failed'
export const ASKING_FAILED = 'asking-failed'

const ACTIONS_RUN = /^actions:\d+/

/** Several orders or askings of one run are one failure. */
function countRun(
  before: FruitlessRuns | null,
  { run_id, at }: Pick<FruitlessRuns, 'run_id' | 'at'>,
): FruitlessRuns | null {
  if (!isActionsRun({ run_id })) return before
  const [run = run_id] = ACTIONS_RUN.exec(run_id) ?? []
  if (before?.run_id === run) return before
  return { times: (before?.times ?? 0) + 1, run_id: run, at }
}

type FruitlessCounts = Pick<Campaign, 'fruitless_measuring' | 'fruitless_asking' | 'alerts'>

export function countLostMeasuring(
  campaign: FruitlessCounts,
  run: { run_id: string | null; at: string },
): void {
  const { run_id, at } = run
  if (run_id !== null) campaign.fruitless_measuring = countRun(campaign.fruitless_measuring, { run_id, at })
}

export function countLostAsking(campaign: FruitlessCounts, run: { run_id: string; at: string }): void {
  campaign.fruitless_asking = countRun(campaign.fruitless_asking, run)
}

export function endLostMeasuring(campaign: FruitlessCounts): void {
  campaign.fruitless_measuring = null
  dropAlerts(campaign, MEASURING_FAILED)
}

export function endLostAsking(campaign: FruitlessCounts): void {
  campaign.fruitless_asking = null
  dropAlerts(campaign, ASKING_FAILED)
}

/** Whether the next run may be put off for them. */
export function hasFruitlessRuns(
  campaign: Pick<Campaign, 'fruitless_measuring' | 'fruitless_asking'>,
): boolean {
  return campaign.fruitless_measuring !== null || campaign.fruitless_asking !== null
}

function dropAlerts(campaign: FruitlessCounts, dropped: string): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => code !== dropped)
}

/** What asks a machine elsewhere to measure was refused. */
export const DISPATCH_REFUSED = 'dispatch-refused'

/** A machine elsewhere has begun: what was in the way of that is not any more. */
export function clearDispatchRefused(campaign: Campaign): void {
  campaign.alerts = campaign.alerts.filter(({ code }) => code !== DISPATCH_REFUSED)
}

/** The code of the alert about a run whose jobs wait for a machine; `about` is the run's id. */
export const NO_MACHINE = 'no-machine'

/** Rules that a person can move in the spec; the others end a campaign, or are about ideas and not about the spec. */
const MOVABLE_LIMITS: ReadonlySet<string> = new Set([
  'target_reached',
  'max_iterations',
  'max_hours',
  'plateau',
  'max_runner_minutes',
  'max_total_cost_usd',
  'max_failures',
])

/** By the code of a stop. */
export function isMovable(code: string): boolean {
  return MOVABLE_LIMITS.has(code)
}
