import { z } from 'zod'
import type { Repository } from '../git/repository.ts'
import { type Campaign, emptyCampaign, FOLD_VERSION } from '../model/campaign.ts'
import { canonicalJson, sha256 } from '../model/canonical.ts'
import { digest, type Oid } from '../model/ids.ts'
import { headBefore, type Tip } from './tip.ts'

export const CHECKPOINT_PATH = 'checkpoint.json'
const EVERY = 256

export type Checkpoint =
  | { usable: true; campaign: Campaign; head: string; oid: Oid }
  /** `ignored` says why everything is folded again; null: there is none. */
  | { usable: false; ignored: string | null }

const header = z.looseObject({
  fold: z.number(),
  seq: z.number().int().positive(),
  head: digest,
  state_digest: digest,
})

export function checkpointDue(seq: number, lastCheckpointSeq: number): boolean {
  return seq - lastCheckpointSeq >= EVERY
}

/** The bytes of checkpoint.json for a campaign folded up to the event whose file has sha256 `head`. */
export function checkpointBytes(campaign: Campaign, head: string): string {
  const state = canonicalJson(campaign)
  const { before, after } = frame({
    fold: campaign.fold,
    head,
    seq: campaign.seq,
    state_digest: sha256(state),
  })
  return `${before}${state}${after}`
}

/** Canonical JSON around the state, so that the state's own bytes are digested without writing them anew. */
function frame(fields: { fold: number; head: string; seq: number; state_digest: string }) {
  const { fold, head, seq, state_digest } = fields
  const before = `${canonicalJson({ fold, head, seq }).slice(0, -1)},"state":`
  return { before, after: `,${canonicalJson({ state_digest }).slice(1)}\n` }
}

/** A cache: whatever is wrong with it is a reason to fold anew, never an error and never believed. */
export async function readCheckpoint(repo: Repository, tip: Tip): Promise<Checkpoint> {
  const entry = tip.tree === null ? null : await repo.entryAt(tip.tree, CHECKPOINT_PATH)
  if (entry === null || tip.tree === null) return { usable: false, ignored: null }
  if (entry.type !== 'blob') return ignored('is not a file')
  const text = (await repo.blob(entry.oid)).toString('utf8')
  const value = json(text)
  const parsed = header.safeParse(value)
  if (!parsed.success) return ignored('is not a checkpoint')
  const { fold, seq, head, state_digest } = parsed.data
  if (fold !== FOLD_VERSION) return ignored(`was folded by version ${fold}, this is ${FOLD_VERSION}`)
  if (seq > tip.seq) return ignored(`covers ${seq} events, the ledger has ${tip.seq}`)
  const { before, after } = frame({ fold, head, seq, state_digest })
  if (!text.startsWith(before) || !text.endsWith(after)) return ignored('is not canonical JSON')
  if (sha256(text.slice(before.length, -after.length)) !== state_digest)
    return ignored('does not have its state digest')
  if ((await headBefore(repo, tip.tree, seq)) !== head) return ignored(`names another event ${seq - 1}`)
  const state = parsed.data['state']
  if (!isCampaign(state) || state.seq !== seq) return ignored('does not hold the state it names')
  return { usable: true, campaign: state, head, oid: entry.oid }
}

function ignored(why: string): Checkpoint {
  return { usable: false, ignored: `${CHECKPOINT_PATH} ${why}` }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Its digest and fold version vouch for the inside; this looks that it is a campaign at all. */
function isCampaign(value: unknown): value is Campaign {
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(emptyCampaign()).every(key => Object.hasOwn(value, key))
}

/** The event up to which the tip's checkpoint says it was folded; 0 without one that could be. */
export async function checkpointSeq(repo: Repository, tip: Tip): Promise<number> {
  const entry = tip.tree === null ? null : await repo.entryAt(tip.tree, CHECKPOINT_PATH)
  if (entry?.type !== 'blob') return 0
  const start = (await repo.blob(entry.oid)).toString('utf8', 0, 200)
  const seq = Number(/^\{"fold":\d+,"head":"[0-9a-f]{64}","seq":(\d+),/.exec(start)?.[1] ?? 0)
  return seq <= tip.seq ? seq : 0
}
