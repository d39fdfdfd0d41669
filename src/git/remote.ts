import { ConflictError } from '../errors.ts'
import { fetchTask, hold, isHeld, type RemoteTip } from './fetch.ts'
import { lsRemote, type RemoteRefs } from './ls-remote.ts'
import { formatOfOid, isOid, type ObjectFormat, type Oid } from './object-format.ts'
import { pushTask, type RefUpdate } from './push.ts'
import { judgePush, type PushResult } from './push-result.ts'
import { localPath } from './remote-format.ts'
import { removeStaleLock } from './stale-lock.ts'
import { otherFormat, remoteFailure } from './remote-failure.ts'
import { GitExit, type GitRunner, type GitTask } from './runner.ts'
import { listWorktrees, type Worktree } from './worktrees.ts'

export interface Remote {
  remoteRefs(patterns?: readonly string[]): Promise<RemoteRefs>
  /** brings these objects with their full history, and holds them; what is held already costs nothing */
  fetch(tips: readonly RemoteTip[]): Promise<void>
  /** brings one commit and its history from the user's own repository, which is only read */
  fetchFrom(path: string, oid: string): Promise<void>
  /** the one push: leased, atomic, and of winnow's own branches only */
  push(updates: readonly RefUpdate[]): Promise<PushResult>
  /** the user's worktrees, main one included, that have one of these refs checked out; [] for a real remote */
  worktreesHolding(refs: readonly string[]): Promise<(Worktree & { branch: string })[]>
}

export interface RemotePlace {
  dir: string
  remote: string
  prefix: string
  local: boolean
  format: ObjectFormat
}

export function remoteOf(place: RemotePlace, network: GitRunner, local: GitRunner): Remote {
  async function ask<T>(doing: string, task: GitTask<T>, runner = network): Promise<T> {
    try {
      return await runner.run(task)
    } catch (error) {
      if (error instanceof GitExit) throw remoteFailure(doing, place.remote, place.dir, error.output.stderr)
      throw error
    }
  }

  function checkFormat(oid: Oid): void {
    if (!isOid(oid)) throw new Error(`${JSON.stringify(oid)} is not a git object id`)
    if (formatOfOid(oid) !== place.format) throw otherFormat(place.remote, place.dir)
  }

  const remote: Remote = {
    async remoteRefs(patterns) {
      const found = await ask('read', lsRemote(place.remote, patterns))
      for (const oid of found.refs.values()) checkFormat(oid)
      return found
    },
    async fetch(tips) {
      for (const { oid } of tips) checkFormat(oid)
      const missing = await notHeld(place.dir, tips)
      if (missing.length === 0) return
      const output = await ask('fetch from', fetchTask(place, missing, 'oid'))
      if (UNADVERTISED.test(output.stderr)) await fetchAdvertised(missing)
      else if (output.exitCode !== 0)
        throw remoteFailure('fetch from', place.remote, place.dir, output.stderr)
      for (const tip of missing) await hold(place.dir, tip)
    },
    async fetchFrom(path, oid) {
      const tip = { ref: `submitted/${oid}`, oid }
      if (await isHeld(place.dir, tip)) return
      const output = await network.run(fetchTask({ dir: place.dir, remote: path }, [tip], 'oid'))
      if (output.exitCode !== 0) throw remoteFailure('fetch from', path, place.dir, output.stderr)
      await hold(place.dir, tip)
    },
    async push(updates) {
      if (updates.length === 0) return { ok: true }
      let answer = await ask('push to', pushTask({ ...place, updates }))
      if (place.local && (await removeStaleLock(answer.output.stderr, updates))) {
        answer = await ask('push to', pushTask({ ...place, updates }))
      }
      const result = judgePush(answer, updates)
      if (result === null) throw remoteFailure('push to', place.remote, place.dir, answer.output.stderr)
      if (result.ok) await holdPushed(place.dir, updates)
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
    const { refs } = await remote.remoteRefs(updates.map(({ ref }) => ref))
    const moved = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from)
    return moved.length === 0 ? result : { ok: false, reason: 'lease', refs: moved.map(({ ref }) => ref) }
  }

  /** For servers that give only what they advertise: a ref that moved meanwhile is a lost race. */
  async function fetchAdvertised(tips: readonly RemoteTip[]): Promise<void> {
    await expectUnmoved(tips)
    const output = await ask('fetch from', fetchTask(place, tips, 'ref'))
    if (output.exitCode !== 0) throw remoteFailure('fetch from', place.remote, place.dir, output.stderr)
    await expectUnmoved(tips)
  }

  async function expectUnmoved(tips: readonly RemoteTip[]): Promise<void> {
    const { refs } = await remote.remoteRefs(tips.map(({ ref }) => ref))
    const moved = tips.filter(({ ref, oid }) => refs.get(ref) !== oid).map(({ ref }) => ref)
    if (moved.length === 0) return
    throw new ConflictError(`the remote moved ${moved.join(', ')} while it was fetched`, moved)
  }

  return remote
}

const UNADVERTISED = /not our ref|unadvertised object/

async function notHeld(dir: string, tips: readonly RemoteTip[]): Promise<RemoteTip[]> {
  const missing: RemoteTip[] = []
  for (const tip of tips) if (!(await isHeld(dir, tip))) missing.push(tip)
  return missing
}

async function holdPushed(dir: string, updates: readonly RefUpdate[]): Promise<void> {
  for (const { ref, to } of updates) if (to !== null) await hold(dir, { ref, oid: to })
}
