import { formatCount } from '../../decide/wording.ts'
import type { RepositoryContext } from '../../engine/open.ts'
import { UserError } from '../../errors.ts'
import { buildLocalIsolation } from '../../git/isolation.ts'
import { createGitRunner } from '../../git/runner.ts'
import { compareTrees } from '../../git/tree-walk.ts'
import { listUncommittedPaths } from '../../git/uncommitted.ts'
import { readWorkTree } from '../../git/work-tree.ts'
import type { Point } from '../../model/ids.ts'
import { WORK_TREE } from '../../report/compare-sentence.ts'
import { findNearestWord } from '../../spec/suggest.ts'
import type { Call } from '../call.ts'

/** One of the two: what people call it, and exactly what is measured. */
export interface ComparedSide {
  name: string
  point: Point
}

export interface ComparedSides {
  base: ComparedSide
  head: ComparedSide
  /** Paths that differ between the two. */
  differing: string[]
  /** What a person should know about what is, or is not, measured. */
  notes: string[]
}

/** Both sides, in winnow's own repository. Without a second name it is the work tree as it stands, as in `git diff`. */
export async function resolveSides(call: Call, workshop: RepositoryContext): Promise<ComparedSides> {
  const [baseName = '', headName] = call.given.positionals
  const base = await resolveNamedSide(call, workshop, baseName)
  const { head, notes } =
    headName === undefined
      ? await resolveWorkTreeSide(call, workshop)
      : await resolveCommittedSide(call, workshop, headName)
  const differences = await compareTrees(workshop.repository, base.point.tree, head.point.tree)
  return { base, head, differing: differences.map(({ path }) => path), notes }
}

async function resolveNamedSide(
  { around }: Call,
  workshop: RepositoryContext,
  name: string,
): Promise<ComparedSide> {
  const { repository, checkout } = workshop
  const commit = await resolveCommitName(around, name)
  await repository.fetchFrom(checkout.commonDir, commit)
  return { name, point: { commit, tree: (await repository.commit(commit)).tree } }
}

type HeadSide = Pick<ComparedSides, 'head' | 'notes'>

async function resolveWorkTreeSide(call: Call, workshop: RepositoryContext): Promise<HeadSide> {
  const { env } = call.around
  const { topLevel } = workshop.checkout
  if (topLevel === null) {
    throw new UserError('there is no work tree here that could be compared', {
      fix: 'name both: winnow compare <base> <head> -- <command>',
    })
  }
  const committed = await resolveNamedSide(call, workshop, 'HEAD')
  const { repository } = workshop
  const { commit: head, tree: before } = committed.point
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: () => true })
  if ('unmerged' in read) throw createMergeConflictError(read.unmerged)
  const point = { commit: head, tree: read.tree }
  const changed = (await compareTrees(repository, before, read.tree)).map(({ path }) => path)
  return { head: { name: WORK_TREE, point }, notes: describeWorkTree(changed, read.leftOut) }
}

function createMergeConflictError(paths: readonly string[]): UserError {
  return new UserError(`a merge is not finished: conflict in ${formatFew(paths)}`, {
    fix: 'resolve it, then type the same again; or name both sides: winnow compare <base> <head> -- <command>',
  })
}

function describeWorkTree(changed: readonly string[], inside: readonly string[]): string[] {
  const many = formatCount(changed.length, 'uncommitted change')
  return [
    ...(changed.length === 0
      ? []
      : [`your work tree is measured as it stands, with ${many}: ${formatFew(changed)}`]),
    ...(inside.length === 0 ? [] : [`another repository inside it is left out: ${formatFew(inside)}`]),
  ]
}

async function resolveCommittedSide(
  call: Call,
  workshop: RepositoryContext,
  name: string,
): Promise<HeadSide> {
  const head = await resolveNamedSide(call, workshop, name)
  const { topLevel } = workshop.checkout
  const changed = topLevel === null ? [] : await listUncommittedPaths(topLevel, call.around.env)
  if (changed.length === 0 || topLevel === null) return { head, notes: [] }
  const here = await resolveCommitName(call.around, 'HEAD')
  if (here !== head.point.commit) return { head, notes: [] }
  const note = `${name} is measured as committed: ${formatCount(changed.length, 'uncommitted change')} of your work tree ${changed.length === 1 ? 'is' : 'are'} not in it (${formatFew(changed)}); leave ${name} out to measure the work tree`
  return { head, notes: [note] }
}

export function formatFew(paths: readonly string[], most = 3): string {
  return paths.slice(0, most).join(', ') + (paths.length > most ? ', …' : '')
}

/** A commit of the person's repository, by any name git has for it. */
async function resolveCommitName({ directory, env }: Call['around'], name: string): Promise<string> {
  const git = createGitRunner(buildLocalIsolation(directory, env))
  const found = await git.run({
    args: ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`],
    answers: [1, 128],
    parse: output => output,
  })
  if (found.exitCode === 0) return found.stdout.trim()
  const names = await git.run({
    args: ['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags', 'refs/remotes'],
    parse: ({ stdout }) => stdout.split('\n').filter(each => each !== ''),
  })
  if (name === 'HEAD') throw new UserError('this repository has no commits yet', { fix: 'commit first' })
  const near = findNearestWord(name, names)
  throw new UserError(`there is no branch, tag or commit ${JSON.stringify(name)} in this repository`, {
    fix: near === undefined ? describeFetchHint(names) : `did you mean ${near}?`,
  })
}

function describeFetchHint(names: readonly string[]): string {
  const known = names.length === 0 ? 'it has none' : `it has ${formatFew(names, 5)}`
  return `${known}; what is only on the remote has to be fetched first (git fetch)`
}
