import { isManifest } from '../decide/manifest.ts'
import { formatCount } from '../decide/wording.ts'
import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { DiffEntry } from '../git/diff-tree.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { createGitRunner } from '../git/runner.ts'
import { readWorkTree } from '../git/work-tree.ts'
import type { Oid } from '../model/ids.ts'
import { toOneLine } from '../model/landing.ts'
import { compileScope } from '../spec/scope.ts'
import type { Spec } from '../spec/schema.ts'

/** What a person has made, as one commit that winnow can measure: HEAD, or what lies in the work tree on top of it. */
export interface OwnDiff {
  head: Oid
  commit: Oid
  tree: Oid
  hypothesis: string
  /** Files in scope that are not committed; none where HEAD itself is the idea. */
  uncommitted: string[]
  /** Some of them are new. */
  addsFiles: boolean
  /** What lies there and is no part of it. */
  leftOut: string[]
}

export interface RefusedTry {
  code: string
  message: string
  next: string
}

interface DiffRequest {
  workshop: RepositoryContext
  env: Readonly<Record<string, string>>
  spec: Spec
  message: string | undefined
  onlyInScope: boolean
}

/** Only read: no file, index or ref of the person is touched (invariant 12). */
export async function readOwnDiff(asked: DiffRequest): Promise<OwnDiff | RefusedTry> {
  const { workshop, env, spec, onlyInScope } = asked
  const { repository, checkout } = workshop
  const topLevel = requireTopLevel(checkout.topLevel)
  const head = await resolveHead(topLevel, env)
  await repository.fetchFrom(checkout.commonDir, head)
  const { isMutable } = compileScope(spec)
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: isMutable })
  if ('unmerged' in read) return refuseUnresolved(read.unmerged)
  const { tree: base } = await repository.commit(head)
  const entries = await repository.diff(base, read.tree)
  const outside = entries.filter(({ path }) => !isMutable(path)).map(({ path }) => path)
  if (outside.length > 0 && !onlyInScope) return refuseOutsideScope(outside)
  const inside = entries.filter(({ path }) => isMutable(path))
  const tree =
    outside.length === 0 ? read.tree : await repository.replaceEntries(base, inside.map(toTreeChange))
  return commitDiff(asked, { head, base, tree, inside, leftOut: [...outside, ...read.leftOut] })
}

interface WorkTreeDiff {
  head: Oid
  base: Oid
  tree: Oid
  inside: readonly DiffEntry[]
  leftOut: string[]
}

/** Dated like HEAD: the same files on the same commit are the same commit, however often they are tried. */
async function commitDiff(
  { workshop: { repository }, message }: DiffRequest,
  { head, base, tree, inside, leftOut }: WorkTreeDiff,
): Promise<OwnDiff> {
  const { committer, message: subject } = await repository.commit(head)
  const uncommitted = tree === base ? [] : inside.map(({ path }) => path)
  const otherwise =
    tree === base ? (subject.split('\n', 1)[0] ?? '') : `change ${formatSomePaths(uncommitted)}`
  const hypothesis = toOneLine(message ?? otherwise, 300)
  if (hypothesis === '')
    throw new UserError('an idea needs a sentence', { fix: 'winnow try -m "what it does, and why it helps"' })
  const made = { tree, parents: [head], message: hypothesis, date: committer.date }
  const commit = tree === base ? head : await repository.writeCommit(made)
  const addsFiles = inside.some(({ status }) => status === 'A')
  return { head, commit, tree, hypothesis, uncommitted, addsFiles, leftOut }
}

function requireTopLevel(topLevel: string | null): string {
  if (topLevel !== null) return topLevel
  throw new UserError('a bare repository has no work tree to try', {
    fix: 'run winnow try in a clone, or offer a commit: winnow propose <commit>',
  })
}

async function resolveHead(topLevel: string, env: DiffRequest['env']): Promise<Oid> {
  const { exitCode, stdout } = await createGitRunner(buildLocalIsolation(topLevel, env)).run({
    args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'],
    answers: [1, 128],
    parse: output => output,
  })
  if (exitCode === 0) return stdout.trim()
  throw new UserError('there is no commit here yet', { fix: 'commit what is to be improved first' })
}

function toTreeChange({ path, newMode, newOid }: DiffEntry) {
  return { path, entry: newMode === null || newOid === null ? null : { mode: newMode, oid: newOid } }
}

function refuseUnresolved(paths: readonly string[]): RefusedTry {
  return {
    code: 'conflict',
    message: `a merge is not finished: conflict in ${formatSomePaths(paths)}`,
    next: 'resolve it, then type the same again',
  }
}

function refuseOutsideScope(paths: readonly string[]): RefusedTry {
  const message = `${formatCount(paths.length, 'changed file')} outside scope.mutable: ${formatSomePaths(paths)}`
  const next = `undo or commit elsewhere what is outside, or leave it out: winnow try --only-in-scope`
  return { code: 'out-of-scope', message, next: paths.every(isManifest) ? describePackageStep(paths) : next }
}

/** A scope that init drafts has no manifest in it. */
function describePackageStep(paths: readonly string[]): string {
  return `leave it out (winnow try --only-in-scope), or a person lets ideas bring packages: add ${formatSomePaths(paths)} to scope.mutable and commit that`
}

export function formatSomePaths(paths: readonly string[]): string {
  const more = paths.length - 3
  return `${paths.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
