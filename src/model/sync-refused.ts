import type { Campaign } from './campaign.ts'
import type { EventDraft } from './event.ts'
import type { Oid } from './ids.ts'
import { toShortRef } from './refs.ts'
import { buildMergeCommand } from './sync-awaited.ts'

/** GitHub lets no job's own token bring workflow files to a branch that has others. */
export const SYNC_REFUSED = 'sync-workflows'
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
