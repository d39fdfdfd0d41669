import { z } from 'zod'
import type { Repository } from '../git/repository.ts'
import { type Campaign, createEmptyCampaign, FOLD_VERSION } from '../model/campaign.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import { digestSchema, type Oid } from '../model/ids.ts'
import { readPreviousHead, type Tip } from './read-events.ts'

export const CHECKPOINT_PATH = 'checkpoint.json'
const CHECKPOINT_INTERVAL = 256

export type Checkpoint =
  | { usable: true; campaign: Campaign; head: string; oid: Oid }
  /** `ignored`: the reason to fold all events again; null when there is no checkpoint. */
  | { usable: false; ignored: string | null }

const checkpointHeader = z.looseObject({
  fold: z.number(),
  seq: z.number().int().positive(),
  head: digestSchema,
  state_digest: digestSchema,
})

export function isCheckpointDue(seq: number, lastCheckpointSeq: number): boolean {
  return seq - lastCheckpointSeq >= CHECKPOINT_INTERVAL
}

/** Keeps the order of the fold's keys: `Object.values` then lists the same after a checkpoint as without one. */
export function buildCheckpoint(campaign: Campaign, head: string): string {
  const state = JSON.stringify(campaign, requireFinite)
  const { before, after } = wrapState({
    fold: campaign.fold,
    head,
    seq: campaign.seq,
    state_digest: hashSha256(state),
  })
  return `${before}${state}${after}`
}

function requireFinite(_key: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new TypeError(`not representable in JSON: ${value}`)
}

/** Builds the canonical JSON around the state, so that the state is serialized only once. */
function wrapState(fields: { fold: number; head: string; seq: number; state_digest: string }) {
  const { fold, head, seq, state_digest } = fields
  const before = `${toCanonicalJson({ fold, head, seq }).slice(0, -1)},"state":`
  return { before, after: `,${toCanonicalJson({ state_digest }).slice(1)}\n` }
}

/** A cache: a defect is a reason to fold all events again, and its content is never trusted. */
export async function readCheckpoint(repo: Repository, tip: Tip): Promise<Checkpoint> {
  const entry = tip.tree === null ? null : await repo.findEntry(tip.tree, CHECKPOINT_PATH)
  if (entry === null || tip.tree === null) return { usable: false, ignored: null }
  if (entry.type !== 'blob') return ignoreCheckpoint('is not a file')
  const text = (await repo.blob(entry.oid)).toString('utf8')
  const value = tryParseJson(text)
  const parsed = checkpointHeader.safeParse(value)
  if (!parsed.success) return ignoreCheckpoint('is not a checkpoint')
  const { fold, seq, head, state_digest } = parsed.data
  if (fold !== FOLD_VERSION) return ignoreCheckpoint(`was folded by version ${fold}, this is ${FOLD_VERSION}`)
  if (seq > tip.seq) return ignoreCheckpoint(`covers ${seq} events, the ledger has ${tip.seq}`)
  const { before, after } = wrapState({ fold, head, seq, state_digest })
  if (!text.startsWith(before) || !text.endsWith(after)) return ignoreCheckpoint('is not canonical JSON')
  if (hashSha256(text.slice(before.length, -after.length)) !== state_digest)
    return ignoreCheckpoint('does not have its state digest')
  if ((await readPreviousHead(repo, tip.tree, seq)) !== head)
    return ignoreCheckpoint(`names another event ${seq - 1}`)
  const state = parsed.data['state']
  if (!isCampaignState(state) || state.seq !== seq)
    return ignoreCheckpoint('does not hold the state it names')
  return { usable: true, campaign: state, head, oid: entry.oid }
}

function ignoreCheckpoint(why: string): Checkpoint {
  return { usable: false, ignored: `${CHECKPOINT_PATH} ${why}` }
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Digest and fold version vouch for the content, so this checks only the top-level keys. */
function isCampaignState(value: unknown): value is Campaign {
  if (typeof value !== 'object' || value === null) return false
  return Object.keys(createEmptyCampaign()).every(key => Object.hasOwn(value, key))
}

/** Returns the seq that the tip's checkpoint claims to cover; 0 when there is none, or when the ledger is shorter. */
export async function readCheckpointSeq(repo: Repository, tip: Tip): Promise<number> {
  const entry = tip.tree === null ? null : await repo.findEntry(tip.tree, CHECKPOINT_PATH)
  if (entry?.type !== 'blob') return 0
  const start = (await repo.blob(entry.oid)).toString('utf8', 0, 200)
  const seq = Number(/^\{"fold":\d+,"head":"[0-9a-f]{64}","seq":(\d+),/.exec(start)?.[1] ?? 0)
  return seq <= tip.seq ? seq : 0
}
