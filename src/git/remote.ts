import { dropTrackingRef, readTrackedTip, writeTrackingRef } from './fetch.ts'
import { type Fetcher, createFetcher } from './fetching.ts'
import type { RemoteRefs } from './ls-remote.ts'
import type { Oid } from './object-format.ts'
import type { LocalRemote } from './neighbour.ts'
import { buildPushTask, type RefUpdate, requireOwnRefs } from './push.ts'
import { classifyPush, type PushResult } from './push-result.ts'
import { toLocalPath } from './remote-format.ts'
import { PUSH, PUSH_AS_APP, explainRemoteFailure } from './remote-failure.ts'
import { type RemoteContext, createRemoteConnection } from './remote-line.ts'
import type { GitRunner } from './runner.ts'
import { removeStaleLock } from './stale-lock.ts'
import { listWorktrees, type Worktree } from './worktrees.ts'

export interface Remote extends Fetcher {
  remoteRefs(patterns?: readonly string[]): Promise<RemoteRefs>
  /** where this ref was when it was last fetched or pushed from here; the remote may have moved it since */
  readTrackedTip(ref: string): Oid | null
  /** forgets that */
  dropTrackingRef(ref: string): void
  /** the one push: leased, atomic, and of winnow's own branches only */
  push(updates: readonly RefUpdate[], how?: PushOptions): Promise<PushResult>
  /** there is a token of its own for pushes that bring workflow files */
  readonly canPushWorkflows: boolean
  /** the user's worktrees, main one included, that have one of these refs checked out; [] for a real remote */
  worktreesHolding(refs: readonly string[]): Promise<(Worktree & { branch: string })[]>
}

export interface PushOptions {
  /** with the token that may, where there is one */
  bringsWorkflows?: boolean
}

/** By whom a remote is reached, and the remote itself where it is somebody's repository on this machine. */
interface RemoteAccess {
  network: GitRunner
  bringer: GitRunner | null
  local: GitRunner
  neighbour: LocalRemote | null
}

export function createRemote(
  place: RemoteContext,
  { network, bringer, local, neighbour }: RemoteAccess,
): Remote {
  const line = createRemoteConnection(place, network)
  const { ask } = line
  const remote: Remote = {
    remoteRefs: line.refs,
    readTrackedTip: ref => readTrackedTip(place.dir, ref),
    dropTrackingRef: ref => dropTrackingRef(place.dir, ref),
    ...createFetcher(line),
    canPushWorkflows: bringer !== null,
    async push(updates, { bringsWorkflows = false } = {}) {
      if (updates.length === 0) return { ok: true }
      requireOwnRefs(place.prefix, updates)
      const task = buildPushTask({ ...place, updates, asPack: (await neighbour?.canKeepPacks()) ?? false })
      const by = bringsWorkflows ? bringer : network
      if (by === null) throw new Error('nobody was given a token that may bring workflow files')
      const doing = bringsWorkflows ? PUSH_AS_APP : PUSH
      let answer = await ask(doing, task, by)
      if (place.local && (await removeStaleLock(answer.output.stderr, updates))) {
        answer = await ask(doing, task, by)
      }
      const result = classifyPush(answer, updates)
      if (result === null) throw explainRemoteFailure(doing, place.remote, place.dir, answer.output.stderr)
      if (result.ok) trackPushedRefs(place.dir, updates)
      return result.ok ? result : explain(result, updates)
    },
    async worktreesHolding(refs) {
      const path = place.local ? toLocalPath(place.remote) : null
      if (path === null) return []
      const worktrees = await ask('list the worktrees of', listWorktrees(path), local)
      return worktrees.flatMap(({ path, branch }) =>
        branch !== null && refs.includes(branch) ? [{ path, branch }] : [],
      )
    },
  }

  /** What the remote's words leave open is looked up: which worktree, or whether a ref has moved after all. */
  async function explain(
    result: PushResult & { ok: false },
    updates: readonly RefUpdate[],
  ): Promise<PushResult> {
    if (result.reason === 'checked-out') {
      const [holder] = await remote.worktreesHolding([result.ref])
      return { ...result, worktree: holder?.path ?? place.remote }
    }
    if (result.reason === 'lease' || result.rule !== undefined) return result
    const { refs } = await line.refs(updates.map(({ ref }) => ref))
    const moved = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from)
    return moved.length === 0 ? result : { ok: false, reason: 'lease', refs: moved.map(({ ref }) => ref) }
  }

  return remote
}

function trackPushedRefs(dir: string, updates: readonly RefUpdate[]): void {
  for (const { ref, to } of updates) {
    if (to === null) dropTrackingRef(dir, ref)
    else writeTrackingRef(dir, { ref, oid: to })
  }
}
