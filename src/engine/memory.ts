import type { ForgeError } from '../errors.ts'
import type { LoadedCampaign } from '../ledger/load.ts'
import type { Campaign } from '../model/campaign.ts'
import type { ExperimentId, Oid } from '../model/ids.ts'
import type { ReleaseDate } from '../ports.ts'
import type { CandidateFacts, HoldoutFacts, PickFacts, World } from '../plan/world.ts'

/** What is remembered between looks, to look faster; forgetting it changes nothing (invariant 11). */
export interface Memory {
  loaded: LoadedCampaign | null
  candidates: Map<string, CandidateFacts>
  /** What a change comes to on the default branch, by both. */
  picks: Map<string, PickFacts>
  /** Checks as this process has shown them. */
  checks: Map<ExperimentId, string>
  /** When releases were published, as far as it was asked. */
  releases: Map<string, ReleaseDate | null | undefined>
  /** Which commits are in the history of which: that never changes. */
  ancestors: Map<string, boolean>
  /** The remote's refs when they were last asked for, and as our own pushes left them since. */
  refs: ReadonlyMap<string, Oid> | null
  /** Where the holdout's ref was at the same time. */
  holdout: HoldoutFacts | null
  /** On the clock that never jumps. */
  askedAt: number
  /** Another one for each tick, and after each turn that was cut off. */
  turn: number
  /** What was done outside the ledger, or refused there, while it ended in this commit (`plan/repeats.ts`). */
  carried: { tip: Oid | null; keys: Set<string> }
  /** What the forge would not do, by its words. */
  refusals: Map<string, ForgeError>
  /** The campaign's state that the ledger's views are known to tell. */
  shown: Campaign['status'] | null
}

export function createMemory(): Memory {
  return {
    loaded: null,
    candidates: new Map(),
    picks: new Map(),
    checks: new Map(),
    releases: new Map(),
    ancestors: new Map(),
    refs: null,
    holdout: null,
    askedAt: Number.NEGATIVE_INFINITY,
    turn: 0,
    carried: { tip: null, keys: new Set() },
    refusals: new Map(),
    shown: null,
  }
}

/** What a turn that was cut off, or another writer, may have made untrue. */
export function resetMemory(memory: Memory): void {
  memory.loaded = null
  memory.refs = null
  memory.turn += 1
  memory.shown = null
}

export function listDoneKeys(
  { carried: { tip, keys } }: Memory,
  ledger: Oid | null,
): Pick<World, 'doneActions'> {
  return ledger !== null && tip === ledger ? { doneActions: keys } : {}
}
