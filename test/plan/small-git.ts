import { toCanonicalJson } from '../../src/model/canonical-json.ts'
import type { Oid, Point } from '../../src/model/ids.ts'
import type { CandidateChange } from '../../src/plan/world.ts'
import { oidOf } from './a-campaign.ts'

export type Files = Readonly<Record<string, string>>
type Merged = { clean: true; tree: Oid } | { clean: false; conflicts: string[] }

interface Commit {
  tree: Oid
  parents: Oid[]
  /** Its place in the order of making: parents always come before their children. */
  made: number
}

/** As much of git as a plan can see: trees of files, commits, merging, ancestry. In memory. */
export class SmallGit {
  readonly #trees = new Map<Oid, Files>()
  readonly #commits = new Map<Oid, Commit>()
  readonly #ancestors = new Map<Oid, ReadonlySet<Oid>>()

  write(files: Files): Oid {
    const tree = oidOf(toCanonicalJson(files))
    this.#trees.set(tree, files)
    return tree
  }

  commit(tree: Oid, parents: Oid[], message = ''): Point {
    const commit = oidOf(toCanonicalJson([tree, parents, message]))
    if (!this.#commits.has(commit)) this.#commits.set(commit, { tree, parents, made: this.#commits.size })
    return { commit, tree }
  }

  files(tree: Oid): Files {
    return this.#trees.get(tree) ?? {}
  }

  treeOf(commit: Oid): Oid {
    return this.#at(commit).tree
  }

  contains(commit: Oid, other: Oid): boolean {
    return this.#ancestry(commit).has(other)
  }

  merge(ours: Oid, theirs: Oid): Merged {
    const base = this.#mergeBase(ours, theirs)
    const [a, b, o] = [ours, theirs, base].map(commit => this.files(this.treeOf(commit)))
    const merged: Record<string, string> = {}
    const conflicts: string[] = []
    for (const path of new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})])) {
      const [mine, other, old] = [a?.[path], b?.[path], o?.[path]]
      if (mine !== other && mine !== old && other !== old) conflicts.push(path)
      const text = mine === old ? other : mine
      if (text !== undefined) merged[path] = text
    }
    return conflicts.length > 0 ? { clean: false, conflicts } : { clean: true, tree: this.write(merged) }
  }

  changes(from: Oid, to: Oid): CandidateChange[] {
    const [before, after] = [this.files(from), this.files(to)]
    const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted()
    return paths
      .filter(path => before[path] !== after[path])
      .map(path => changed(path, before[path], after[path]))
  }

  #mergeBase(a: Oid, b: Oid): Oid {
    const shared = [...this.#ancestry(a)].filter(commit => this.#ancestry(b).has(commit))
    return shared.reduce((best, commit) => (this.#at(commit).made > this.#at(best).made ? commit : best))
  }

  #ancestry(commit: Oid): ReadonlySet<Oid> {
    const known = this.#ancestors.get(commit)
    if (known) return known
    const found = new Set([commit])
    for (const parent of this.#at(commit).parents) for (const each of this.#ancestry(parent)) found.add(each)
    this.#ancestors.set(commit, found)
    return found
  }

  #at(commit: Oid): Commit {
    const found = this.#commits.get(commit)
    if (!found) throw new Error(`no commit ${commit}`)
    return found
  }
}

function changed(path: string, before: string | undefined, after: string | undefined): CandidateChange {
  const mode = (text: string | undefined) => (text === undefined ? '000000' : '100644')
  const status = before === undefined ? 'A' : after === undefined ? 'D' : 'M'
  const [added, deleted] = [linesBeside(after, before), linesBeside(before, after)]
  return { path, status, oldMode: mode(before), newMode: mode(after), added, deleted, bytes: null }
}

function linesBeside(text: string | undefined, other: string | undefined): number {
  const there = new Set((other ?? '').split('\n'))
  return (text ?? '').split('\n').filter(line => !there.has(line)).length
}
