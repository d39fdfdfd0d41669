import { UserError } from '../errors.ts'
import type { Oid } from '../model/ids.ts'
import { type DiffEntry, diffTree, parseDiff, type TreeDiffer } from './diff.ts'
import { isShallow } from './fetch.ts'
import type { ObjectStore } from './objects.ts'
import { type GitRunner, type GitTask, splitArguments } from './runner.ts'
import { compareTrees, replaceEntries, type TreeDifference, unquotePath } from './tree.ts'

export interface History {
  /** Merges commits without a checkout. No attributes or merge drivers of the user apply. */
  mergeTree(ours: Oid, theirs: Oid): Promise<MergeResult>
  /** Accepts trees or commits. Does not detect renames. */
  diff(from: Oid, to: Oid): Promise<DiffEntry[]>
  isAncestor(ancestor: Oid, descendant: Oid): Promise<boolean>
  /** Returns those of the commits that the tip does not contain. */
  listNotContained(tip: Oid, commits: readonly Oid[]): Promise<Oid[]>
  /** Null when they share no history. */
  mergeBase(a: Oid, b: Oid): Promise<Oid | null>
  /** Returns the paths of text files with a match of any pattern. */
  grep(tree: Oid, patterns: readonly string[]): Promise<string[]>
}

interface HistoryContext {
  dir: string
  store: ObjectStore
  runner: GitRunner
  differ: TreeDiffer
}

export function createHistory({ dir, store, runner, differ }: HistoryContext): History {
  async function contains(descendant: Oid, ancestor: Oid): Promise<boolean | null> {
    return isShallow(dir) ? null : hasNearbyAncestor(store, descendant, ancestor)
  }

  async function mergeNearby(ours: Oid, theirs: Oid): Promise<Oid | null> {
    const base = await findBase(ours, theirs)
    if (base === null) return null
    const [at, our, their] = await Promise.all([base, ours, theirs].map(readTreeOid))
    return at && our && their ? mergeDisjointTrees(store, at, { ours: our, theirs: their }) : null
  }

  async function findBase(ours: Oid, theirs: Oid): Promise<Oid | null> {
    return isShallow(dir) ? null : findForkPoint(store, ours, theirs)
  }

  async function readTreeOid(commit: Oid): Promise<Oid> {
    return (await store.commit(commit)).tree
  }

  return {
    async mergeTree(ours, theirs) {
      if (await contains(theirs, ours)) return { clean: true, tree: await readTreeOid(theirs) }
      const tree = await mergeNearby(ours, theirs)
      return tree === null ? runner.run(mergeTree(ours, theirs)) : { clean: true, tree }
    },
    async diff(from, to) {
      if (from === to) return []
      // The differ compares only trees. For commits it returns null.
      const lines = await differ.compare(from, to)
      return lines === null ? runner.run(diffTree(from, to)) : parseDiff(lines)
    },
    async isAncestor(ancestor, descendant) {
      return (await contains(descendant, ancestor)) ?? runner.run(isAncestor(ancestor, descendant))
    },
    async listNotContained(tip, commits) {
      const listed = new Set<Oid>()
      for (const part of splitArguments(commits, commit => commit))
        for (const commit of await runner.run(listBeyond(tip, part))) listed.add(commit)
      const missing: Oid[] = []
      for (const commit of commits)
        if (listed.has(commit) && !(await runner.run(isAncestor(commit, tip)))) missing.push(commit)
      return missing
    },
    async mergeBase(a, b) {
      return (await findBase(a, b)) ?? runner.run(findMergeBase(a, b))
    },
    async grep(tree, patterns) {
      const found = new Set<string>()
      for (const part of splitArguments(patterns, pattern => pattern))
        for (const path of await runner.run(searchTree(tree, part))) found.add(path)
      return [...found]
    },
  }
}

// Commits

/** Also lists commits that the tip contains if their dates are later than its own: rev-list goes by dates. */
function listBeyond(tip: Oid, commits: readonly Oid[]): GitTask<Oid[]> {
  return { args: ['rev-list', ...commits, `^${tip}`], parse: ({ stdout }) => splitLines(stdout) }
}

export function isAncestor(ancestor: string, descendant: Oid): GitTask<boolean> {
  return {
    args: ['merge-base', '--is-ancestor', ancestor, descendant],
    answers: [1],
    parse: ({ exitCode }) => exitCode === 0,
  }
}

function findMergeBase(a: Oid, b: Oid): GitTask<Oid | null> {
  return { args: ['merge-base', a, b], answers: [1], parse: ({ stdout }) => splitLines(stdout)[0] ?? null }
}

function splitLines(stdout: string): string[] {
  return stdout.split('\n').filter(line => line !== '')
}

/** Number of commits to read on each side before starting git. Reading one takes at most 0.1 ms. */
const MAX_COMMITS = 64

/**
 * Returns true if `descendant` contains `ancestor`, or null if a few commits do not settle it. An ancestor of
 * `ancestor` cannot contain it, so the walk down from `descendant` stops there.
 */
export async function hasNearbyAncestor(
  store: Pick<ObjectStore, 'commit'>,
  descendant: Oid,
  ancestor: Oid,
): Promise<boolean | null> {
  if (ancestor === descendant) return true
  const below = await collectNearAncestors(store, ancestor)
  if (below.has(descendant)) return false
  const pending = [descendant]
  const seen = new Set(pending)
  for (const at of pending) {
    if (pending.length > MAX_COMMITS) return null
    for (const parent of (await store.commit(at)).parents) {
      if (parent === ancestor) return true
      if (below.has(parent) || seen.has(parent)) continue
      seen.add(parent)
      pending.push(parent)
    }
  }
  return false
}

/**
 * Returns the commit at which two histories forked, or null if a few commits do not show it. Follows only a
 * line without merges: every other shared commit then lies below the result.
 */
export async function findForkPoint(
  store: Pick<ObjectStore, 'commit'>,
  ours: Oid,
  theirs: Oid,
): Promise<Oid | null> {
  let at = theirs
  for (let steps = 0; steps < MAX_COMMITS; steps++) {
    const contained = await hasNearbyAncestor(store, ours, at)
    if (contained === null) return null
    if (contained) return at
    const [parent, ...more] = (await store.commit(at)).parents
    if (parent === undefined || more.length > 0) return null
    at = parent
  }
  return null
}

async function collectNearAncestors(store: Pick<ObjectStore, 'commit'>, commit: Oid): Promise<Set<Oid>> {
  const below = new Set<Oid>()
  const pending = [commit]
  for (const at of pending) {
    if (below.size > MAX_COMMITS) break
    for (const parent of (await store.commit(at)).parents) {
      if (below.has(parent)) continue
      below.add(parent)
      pending.push(parent)
    }
  }
  return below
}

// Merging

export type MergeResult = { clean: true; tree: Oid } | { clean: false; conflicts: string[] }

function mergeTree(ours: Oid, theirs: Oid): GitTask<MergeResult> {
  return {
    args: ['merge-tree', '--write-tree', '--name-only', '--no-messages', ours, theirs],
    answers: [1, 128],
    parse({ exitCode, stdout, stderr }) {
      if (exitCode === 128) throw explainMergeFailure(ours, theirs, stderr)
      const [tree = '', ...names] = splitLines(stdout)
      return exitCode === 0 ? { clean: true, tree } : { clean: false, conflicts: names.map(unquotePath) }
    },
  }
}

function explainMergeFailure(ours: Oid, theirs: Oid, stderr: string): Error {
  if (!stderr.includes('unrelated histories')) {
    return new Error(`git cannot merge ${theirs} into ${ours}: ${stderr.trim()}`)
  }
  return new UserError(`${theirs} and ${ours} have no common history`, {
    fix: 'if the repository is a shallow clone run `git fetch --unshallow` in it; otherwise rebase the branch',
  })
}

/**
 * Merges two trees with disjoint changes without a git process. Returns null when git has to merge: both sides
 * changed a path, or one changed a folder that the other replaced by a file, or one side both removed and added
 * files, which git may detect as a rename.
 */
async function mergeDisjointTrees(
  store: ObjectStore,
  base: Oid,
  { ours, theirs }: { ours: Oid; theirs: Oid },
): Promise<Oid | null> {
  const ourChanges = await compareTrees(store, base, ours)
  const theirChanges = await compareTrees(store, base, theirs)
  if (canContainRename(ourChanges) || canContainRename(theirChanges)) return null
  if (hasOverlap(ourChanges, theirChanges) || hasOverlap(theirChanges, ourChanges)) return null
  return replaceEntries(
    store,
    ours,
    theirChanges.map(({ path, to }) => ({ path, entry: to })),
  )
}

function canContainRename(changes: readonly TreeDifference[]): boolean {
  return changes.some(({ from }) => from === null) && changes.some(({ to }) => to === null)
}

/** Returns true if a path of `these` equals, or is a parent of, a path of `those`. */
function hasOverlap(these: readonly TreeDifference[], those: readonly TreeDifference[]): boolean {
  const paths = new Set(these.map(({ path }) => path))
  return those.some(({ path }) => {
    for (let at = path.length; at > 0; at = path.lastIndexOf('/', at - 1))
      if (paths.has(path.slice(0, at))) return true
    return false
  })
}

/** Searches text files only. */
function searchTree(tree: Oid, patterns: readonly string[]): GitTask<string[]> {
  const expressions = patterns.flatMap(pattern => ['-e', pattern])
  return {
    args: ['grep', '-I', '-l', '-E', '--full-name', ...expressions, tree],
    answers: [1],
    // Of `<tree>:<path>`, git quotes only the path.
    parse: ({ stdout }) => splitLines(stdout).map(line => unquotePath(line.slice(tree.length + 1))),
  }
}
