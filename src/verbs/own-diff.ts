import { isManifest } from '../decide/manifest.ts'
import { plural } from '../decide/wording.ts'
import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import type { DiffEntry } from '../git/diff-tree.ts'
import { localIsolation } from '../git/isolation.ts'
import { gitRunner } from '../git/runner.ts'
import { readWorkTree } from '../git/work-tree.ts'
import type { Oid } from '../model/ids.ts'
import { oneLine } from '../model/landing.ts'
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

export interface NotTried {
  code: string
  message: string
  next: string
}

interface Asked {
  workshop: Workshop
  env: Readonly<Record<string, string>>
  spec: Spec
  message: string | undefined
  onlyInScope: boolean
}

/** Only read: no file, index or ref of the person is touched (invariant 12). */
export async function ownDiff(asked: Asked): Promise<OwnDiff | NotTried> {
  const { workshop, env, spec, onlyInScope } = asked
  const { repository, checkout } = workshop
  const topLevel = requireWorkTree(checkout.topLevel)
  const head = await headOf(topLevel, env)
  await repository.fetchFrom(checkout.commonDir, head)
  const { isMutable } = compileScope(spec)
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: isMutable })
  if ('unmerged' in read) return unresolved(read.unmerged)
  const { tree: base } = await repository.commit(head)
  const entries = await repository.diff(base, read.tree)
  const outside = entries.filter(({ path }) => !isMutable(path)).map(({ path }) => path)
  if (outside.length > 0 && !onlyInScope) return outOfScope(outside)
  const inside = entries.filter(({ path }) => isMutable(path))
  const tree = outside.length === 0 ? read.tree : await repository.replaceAt(base, inside.map(asChange))
  return committed(asked, { head, base, tree, inside, leftOut: [...outside, ...read.leftOut] })
}

interface Found {
  head: Oid
  base: Oid
  tree: Oid
  inside: readonly DiffEntry[]
  leftOut: string[]
}

/** Dated like HEAD: the same files on the same commit are the same commit, however often they are tried. */
async function committed(
  { workshop: { repository }, message }: Asked,
  { head, base, tree, inside, leftOut }: Found,
): Promise<OwnDiff> {
  const { committer, message: subject } = await repository.commit(head)
  const uncommitted = tree === base ? [] : inside.map(({ path }) => path)
  const otherwise = tree === base ? (subject.split('\n', 1)[0] ?? '') : `change ${someOf(uncommitted)}`
  const hypothesis = oneLine(message ?? otherwise, 300)
  if (hypothesis === '')
    throw new UserError('an idea needs a sentence', { fix: 'winnow try -m "what it does, and why it helps"' })
  const made = { tree, parents: [head], message: hypothesis, date: committer.date }
  const commit = tree === base ? head : await repository.writeCommit(made)
  const addsFiles = inside.some(({ status }) => status === 'A')
  return { head, commit, tree, hypothesis, uncommitted, addsFiles, leftOut }
}

function requireWorkTree(topLevel: string | null): string {
  if (topLevel !== null) return topLevel
  throw new UserError('a bare repository has no work tree to try', {
    fix: 'run winnow try in a clone, or offer a commit: winnow propose <commit>',
  })
}

async function headOf(topLevel: string, env: Asked['env']): Promise<Oid> {
  const { exitCode, stdout } = await gitRunner(localIsolation(topLevel, env)).run({
    args: ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'],
    answers: [1, 128],
    parse: output => output,
  })
  if (exitCode === 0) return stdout.trim()
  throw new UserError('there is no commit here yet', { fix: 'commit what is to be improved first' })
}

function asChange({ path, newMode, newOid }: DiffEntry) {
  return { path, entry: newMode === null || newOid === null ? null : { mode: newMode, oid: newOid } }
}

function unresolved(paths: readonly string[]): NotTried {
  return {
    code: 'conflict',
    message: `a merge is not finished: conflict in ${someOf(paths)}`,
    next: 'resolve it, then type the same again',
  }
}

function outOfScope(paths: readonly string[]): NotTried {
  const message = `${plural(paths.length, 'changed file')} outside scope.mutable: ${someOf(paths)}`
  const next = `undo or commit elsewhere what is outside, or leave it out: winnow try --only-in-scope`
  return { code: 'out-of-scope', message, next: paths.every(isManifest) ? packages(paths) : next }
}

/** A scope that init drafts has no manifest in it. */
function packages(paths: readonly string[]): string {
  return `leave it out (winnow try --only-in-scope), or a person lets ideas bring packages: add ${someOf(paths)} to scope.mutable and commit that`
}

export function someOf(paths: readonly string[]): string {
  const more = paths.length - 3
  return `${paths.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
