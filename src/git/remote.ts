import { dropHeld, heldTip, hold } from './fetch.ts'
import { type Fetching, fetching } from './fetching.ts'
import type { RemoteRefs } from './ls-remote.ts'
import type { Oid } from './object-format.ts'
import type { Neighbour } from './neighbour.ts'
import { pushTask, type RefUpdate, requireOwnRefs } from './push.ts'
import { judgePush, type PushResult } from './push-result.ts'
import { localPath } from './remote-format.ts'
import { PUSH, PUSH_AS_APP, remoteFailure } from './remote-failure.ts'
import { type RemotePlace, remoteLine } from './remote-line.ts'
import type { GitRunner } from './runner.ts'
import { removeStaleLock } from './stale-lock.ts'
import { listWorktrees, type Worktree } from './worktrees.ts'

export interface Remote extends Fetching {
  remoteRefs(patterns?: readonly string[]): Promise<RemoteRefs>
  /** where this ref was when it was last fetched or pushed from here; the remote may have moved it since */
  held(ref: string): Oid | null
  /** forgets that */
  dropHeld(ref: string): void
  /** the one push: leased, atomic, and of winnow's own branches only */
  push(updates: readonly RefUpdate[], how?: PushHow): Promise<PushResult>
  /** there is a token of its own for pushes that bring workflow files */
  readonly mayBringWorkflows: boolean
  /** the user's worktrees, main one included, that have one of these refs checked out; [] for a real remote */
  worktreesHolding(refs: readonly string[]): Promise<(Worktree & { branch: string })[]>
}

export interface PushHow {
  /** with the token that may, where there is one */
  bringsWorkflows?: boolean
}

/** By whom a remote is reached, and the remote itself where it is somebody's repository on this machine. */
interface Ways {
  network: GitRunner
  bringer: GitRunner | null
  local: GitRunner
  neighbour: Neighbour | null
}

export function remoteOf(place: RemotePlace, { network, bringer, local, neighbour }: Ways): Remote {
  const line = remoteLine(place, network)
  const { ask } = line
  const remote: Remote = {
    remoteRefs: line.refs,
    held: ref => heldTip(place.dir, ref),
    dropHeld: ref => dropHeld(place.dir, ref),
    ...fetching(line),
    mayBringWorkflows: bringer !== null,
    async push(updates, { bringsWorkflows = false } = {}) {
      if (updates.length === 0) return { ok: true }
      requireOwnRefs(place.prefix, updates)
      const task = pushTask({ ...place, updates, asPack: (await neighbour?.keepsPacks()) ?? false })
      const by = bringsWorkflows ? bringer : network
      if (by === null) throw new Error('nobody was given a token that may bring workflow files')
      const doing = bringsWorkflows ? PUSH_AS_APP : PUSH
      let answer = await ask(doing, task, by)
      if (place.local && (await removeStaleLock(answer.output.stderr, updates))) {
        answer = await ask(doing, task, by)
      }
      const result = judgePush(answer, updates)
      if (result === null) throw remoteFailure(doing, place.remote, place.dir, answer.output.stderr)
      if (result.ok) holdPushed(place.dir, updates)
      return result.ok ? result : explain(result, updates)
    },
    async worktreesHolding(refs) {
      const path = place.local ? localPath(place.remote) : null
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

function holdPushed(dir: string, updates: readonly RefUpdate[]): void {
  for (const { ref, to } of updates) {
    if (to === null) dropHeld(dir, ref)
    else hold(dir, { ref, oid: to })
  }
}
