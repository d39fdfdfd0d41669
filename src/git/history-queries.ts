import { type DiffEntry, diffTree } from './diff-tree.ts'
import { isAncestor, mergeBase, type RevListOptions, revList } from './history.ts'
import { type MergeResult, mergeTree } from './merge-tree.ts'
import type { Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'
import type { GitRunner } from './runner.ts'

export interface History {
  /** of commits; nothing is checked out, and no attribute or driver of the user takes part */
  mergeTree(ours: Oid, theirs: Oid): Promise<MergeResult>
  /** of trees or commits, without rename detection */
  diff(from: Oid, to: Oid): Promise<DiffEntry[]>
  isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean>
  /** those of these commits that `base` does not contain, asked at once */
  notContained(base: Oid, commits: readonly Oid[]): Promise<Set<Oid>>
  /** null when they share no history */
  mergeBase(a: Oid, b: Oid): Promise<Oid | null>
  /** newest first */
  revList(options: RevListOptions): Promise<Oid[]>
  /** what `to` has and `from` has not, oldest first */
  commitsBetween(from: Oid, to: Oid): Promise<Oid[]>
}

const FEW_STEPS = 4
const NOWHERE = { parents: [], message: 'part of no history\n', date: 0 }

export function historyOf(store: ObjectStore, runner: GitRunner): History {
  async function isParent(parent: Oid, child: Oid): Promise<boolean> {
    return parent === child || (await store.commit(child)).parents.includes(parent)
  }

  /** What a commit stems from cannot stem from it: the common question, answered without a process. */
  async function isJustBelow(older: Oid, newer: Oid): Promise<boolean> {
    let at = newer
    for (let step = 0; step < FEW_STEPS; step++) {
      const [parent] = (await store.commit(at)).parents
      if (parent === undefined) return false
      if (parent === older) return true
      at = parent
    }
    return false
  }

  return {
    async mergeTree(ours, theirs) {
      if (await isParent(ours, theirs)) return { clean: true, tree: (await store.commit(theirs)).tree }
      if (await isParent(theirs, ours)) return { clean: true, tree: (await store.commit(ours)).tree }
      return runner.run(mergeTree(ours, theirs))
    },
    async diff(from, to) {
      return from === to ? [] : runner.run(diffTree(from, to))
    },
    async isAncestor(ancestor, descendant) {
      if (await isParent(ancestor, descendant)) return true
      if (await isJustBelow(descendant, ancestor)) return false
      return runner.run(isAncestor(ancestor, descendant))
    },
    async notContained(base, commits) {
      const others = commits.filter(commit => commit !== base)
      if (others.length === 0) return new Set()
      // The runner waits 50 ms for a command that prints nothing: this commit is in no history, so it is printed.
      const nowhere = await store.writeCommit({ ...NOWHERE, tree: await store.writeTree([]) })
      const listed = new Set(await runner.run(revList({ from: [...others, nowhere], not: base })))
      return new Set(others.filter(commit => listed.has(commit)))
    },
    async mergeBase(a, b) {
      if (await isParent(a, b)) return a
      return (await isParent(b, a)) ? b : runner.run(mergeBase(a, b))
    },
    revList: options => runner.run(revList(options)),
    async commitsBetween(from, to) {
      if (from === to) return []
      return (await runner.run(revList({ from: to, not: from }))).reverse()
    },
  }
}
