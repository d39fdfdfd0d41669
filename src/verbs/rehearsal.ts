import type { RefUpdate } from '../git/push.ts'
import type { PushResult } from '../git/push-result.ts'
import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'

/** A repository that takes every push for done and makes none: the real code runs, nothing moves. */
export interface DryRun {
  repository: Repository
  /** In their order, each one push. */
  pushes: readonly (readonly RefUpdate[])[]
  /** Outside any repository: what this machine keeps for its next tick. */
  files: string[]
  /** The verb itself has printed its one JSON document. */
  answered: boolean
}

export function createDryRun(real: Repository): DryRun {
  const pushes: (readonly RefUpdate[])[] = []
  const moved = new Map<string, Oid | null>()
  const made = new Set<Oid>()

  async function remoteRefs(patterns?: readonly string[]) {
    const seen = await real.remoteRefs(patterns)
    const refs = new Map(seen.refs)
    for (const [ref, to] of moved) {
      if (!isWantedRef(ref, patterns)) continue
      if (to === null) refs.delete(ref)
      else refs.set(ref, to)
    }
    return { head: seen.head, refs }
  }

  async function push(updates: readonly RefUpdate[]): Promise<PushResult> {
    if (updates.length === 0) return { ok: true }
    const names = updates.map(({ ref }) => ref)
    const { refs } = await remoteRefs(names)
    const lost = updates.filter(({ ref, from }) => (refs.get(ref) ?? null) !== from)
    if (lost.length > 0) return { ok: false, reason: 'lease', refs: lost.map(({ ref }) => ref) }
    const [held] = await real.worktreesHolding(names)
    if (held) return { ok: false, reason: 'checked-out', ref: held.branch, worktree: held.path }
    pushes.push(updates)
    for (const { ref, to } of updates) {
      moved.set(ref, to)
      if (to !== null) made.add(to)
    }
    return { ok: true }
  }

  const fetch: Repository['fetch'] = tips => real.fetch(tips.filter(({ oid }) => !made.has(oid)))
  return { pushes, files: [], answered: false, repository: { ...real, remoteRefs, fetch, push } }
}

function isWantedRef(ref: string, patterns: readonly string[] | undefined): boolean {
  if (patterns === undefined || patterns.length === 0) return true
  return patterns.some(pattern =>
    pattern.endsWith('*') ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern,
  )
}
