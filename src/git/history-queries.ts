import { type DiffEntry, diffTree, parseDiff } from './diff-tree.ts'
import { searchTree } from './grep.ts'
import { isAncestor, findMergeBase, type RevListOptions, listRevisions } from './history.ts'
import { mergeDisjointTrees } from './merge-apart.ts'
import { type MergeResult, mergeTree } from './merge-tree.ts'
import { isShallow } from './fetch.ts'
import { hasNearbyAncestor, findForkPoint } from './near-history.ts'
import type { Oid } from './object-format.ts'
import type { ObjectStore } from './object-store.ts'
import type { GitRunner } from './runner.ts'
import type { TreeDiffer } from './tree-differ.ts'

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
  /** paths of a tree whose text matches one of the extended regular expressions */
  grep(tree: Oid, patterns: readonly string[]): Promise<string[]>
  /** newest first */
  revList(options: RevListOptions): Promise<Oid[]>
  /** what `to` has and `from` has not, oldest first */
  commitsBetween(from: Oid, to: Oid): Promise<Oid[]>
}

export interface HistoryContext {
  dir: string
  store: ObjectStore
  runner: GitRunner
  differ: TreeDiffer
}

/** What a few objects answer costs no process; for everything else git is asked. */
export function createHistory({ dir, store, runner, differ }: HistoryContext): History {
  async function contains(descendant: Oid, ancestor: Oid): Promise<boolean | null> {
    return isShallow(dir) ? null : hasNearbyAncestor(store, descendant, ancestor)
  }

  async function mergedNearby(ours: Oid, theirs: Oid): Promise<Oid | null> {
    const base = await parted(ours, theirs)
    if (base === null) return null
    const [at, our, their] = await Promise.all([base, ours, theirs].map(treeOf))
    return at && our && their ? mergeDisjointTrees(store, at, { ours: our, theirs: their }) : null
  }

  async function parted(ours: Oid, theirs: Oid): Promise<Oid | null> {
    return isShallow(dir) ? null : findForkPoint(store, ours, theirs)
  }

  async function treeOf(commit: Oid): Promise<Oid> {
    return (await store.commit(commit)).tree
  }

  return {
    async mergeTree(ours, theirs) {
      if (await contains(theirs, ours)) return { clean: true, tree: await treeOf(theirs) }
      const tree = await mergedNearby(ours, theirs)
      return tree === null ? runner.run(mergeTree(ours, theirs)) : { clean: true, tree }
    },
    async diff(from, to) {
      if (from === to) return []
      // Trees alone are compared by it; commits are not, and come back as null.
      const lines = await differ.compare(from, to)
      return lines === null ? runner.run(diffTree(from, to)) : parseDiff(lines)
    },
    async isAncestor(ancestor, descendant) {
      return (await contains(descendant, ancestor)) ?? runner.run(isAncestor(ancestor, descendant))
    },
    async notContained(base, commits) {
      const missing = new Set<Oid>()
      const open: Oid[] = []
      for (const commit of commits) {
        const contained = await contains(base, commit)
        if (contained === null) open.push(commit)
        else if (!contained) missing.add(commit)
      }
      if (open.length === 0) return missing
      const listed = new Set(await runner.run(listRevisions({ from: open, not: base })))
      for (const commit of open) if (listed.has(commit)) missing.add(commit)
      return missing
    },
    async mergeBase(a, b) {
      return (await parted(a, b)) ?? runner.run(findMergeBase(a, b))
    },
    grep: (tree, patterns) => runner.run(searchTree(tree, patterns)),
    revList: options => runner.run(listRevisions(options)),
    async commitsBetween(from, to) {
      if (from === to) return []
      return (await runner.run(listRevisions({ from: to, not: from }))).reverse()
    },
  }
}
