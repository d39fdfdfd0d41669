import type { Repository } from '../git/repository.ts'
import type { Oid } from '../model/ids.ts'

/** What a base branch contains. Its tip must have been fetched: then what is not here is not in it. */
export interface Ancestry {
  contains(base: Oid, commit: Oid): Promise<boolean>
  /** Finds out about many at once what `contains` will be asked. */
  learn(questions: ReadonlyMap<Oid, readonly Oid[]>): Promise<void>
  /** The commit on the base branch with which a head it contains arrived. */
  findMergeCommit(base: Oid, head: Oid): Promise<Oid>
}

const REMEMBERED = 10_000

/** Whether one commit contains another never changes, so each pair costs a git process once. */
export function createAncestry(
  repo: Pick<Repository, 'has' | 'isAncestor' | 'notContained' | 'commit'>,
): Ancestry {
  const known = new Map<string, boolean>()

  async function contains(base: Oid, commit: Oid): Promise<boolean> {
    const pair = `${base} ${commit}`
    const before = known.get(pair)
    if (before !== undefined) return before
    const found = base === commit || ((await repo.has(commit)) && (await repo.isAncestor(commit, base)))
    remember(pair, found)
    return found
  }

  function remember(pair: string, found: boolean): void {
    if (known.size >= REMEMBERED) known.clear()
    known.set(pair, found)
  }

  async function learn(questions: ReadonlyMap<Oid, readonly Oid[]>): Promise<void> {
    for (const [base, commits] of questions) {
      const open: Oid[] = []
      for (const commit of commits)
        if (!known.has(`${base} ${commit}`) && (await repo.has(commit))) open.push(commit)
      if (open.length < 2) continue
      const missing = await repo.notContained(base, open)
      for (const commit of open) remember(`${base} ${commit}`, !missing.has(commit))
    }
  }

  return {
    contains,
    learn,
    async findMergeCommit(base, head) {
      for (let at = base; ; ) {
        const [before, ...merged] = (await repo.commit(at)).parents
        if (merged.includes(head)) return at
        if (before === undefined || !(await contains(before, head))) return at
        at = before
      }
    },
  }
}
