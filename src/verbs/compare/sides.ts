import { plural } from '../../decide/wording.ts'
import type { Workshop } from '../../engine/open.ts'
import { UserError } from '../../errors.ts'
import { localIsolation } from '../../git/isolation.ts'
import { gitRunner } from '../../git/runner.ts'
import { treeDifferences } from '../../git/tree-walk.ts'
import { uncommittedPaths } from '../../git/uncommitted.ts'
import { readWorkTree } from '../../git/work-tree.ts'
import type { Point } from '../../model/ids.ts'
import { WORK_TREE } from '../../report/compare-sentence.ts'
import { nearest } from '../../spec/suggest.ts'
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
export async function comparedSides(call: Call, workshop: Workshop): Promise<ComparedSides> {
  const [baseName = '', headName] = call.given.positionals
  const base = await namedSide(call, workshop, baseName)
  const { head, notes } =
    headName === undefined
      ? await workTreeSide(call, workshop)
      : await committedSide(call, workshop, headName)
  const differences = await treeDifferences(workshop.repository, base.point.tree, head.point.tree)
  return { base, head, differing: differences.map(({ path }) => path), notes }
}

async function namedSide({ around }: Call, workshop: Workshop, name: string): Promise<ComparedSide> {
  const { repository, checkout } = workshop
  const commit = await commitNamed(around, name)
  await repository.fetchFrom(checkout.commonDir, commit)
  return { name, point: { commit, tree: (await repository.commit(commit)).tree } }
}

type Second = Pick<ComparedSides, 'head' | 'notes'>

async function workTreeSide(call: Call, workshop: Workshop): Promise<Second> {
  const { env } = call.around
  const { topLevel } = workshop.checkout
  if (topLevel === null) {
    throw new UserError('there is no work tree here that could be compared', {
      fix: 'name both: winnow compare <base> <head> -- <command>',
    })
  }
  const committed = await namedSide(call, workshop, 'HEAD')
  const { repository } = workshop
  const { commit: head, tree: before } = committed.point
  const read = await readWorkTree({ into: repository.dir, topLevel, head, env, takes: () => true })
  if ('unmerged' in read) throw unresolved(read.unmerged)
  const point = { commit: head, tree: read.tree }
  const changed = (await treeDifferences(repository, before, read.tree)).map(({ path }) => path)
  return { head: { name: WORK_TREE, point }, notes: workTreeNotes(changed, read.leftOut) }
}

function unresolved(paths: readonly string[]): UserError {
  return new UserError(`a merge is not finished: conflict in ${few(paths)}`, {
    fix: 'resolve it, then type the same again; or name both sides: winnow compare <base> <head> -- <command>',
  })
}

function workTreeNotes(changed: readonly string[], inside: readonly string[]): string[] {
  const many = plural(changed.length, 'uncommitted change')
  return [
    ...(changed.length === 0
      ? []
      : [`your work tree is measured as it stands, with ${many}: ${few(changed)}`]),
    ...(inside.length === 0 ? [] : [`another repository inside it is left out: ${few(inside)}`]),
  ]
}

async function committedSide(call: Call, workshop: Workshop, name: string): Promise<Second> {
  const head = await namedSide(call, workshop, name)
  const { topLevel } = workshop.checkout
  const changed = topLevel === null ? [] : await uncommittedPaths(topLevel, call.around.env)
  if (changed.length === 0 || topLevel === null) return { head, notes: [] }
  const here = await commitNamed(call.around, 'HEAD')
  if (here !== head.point.commit) return { head, notes: [] }
  const note = `${name} is measured as committed: ${plural(changed.length, 'uncommitted change')} of your work tree ${changed.length === 1 ? 'is' : 'are'} not in it (${few(changed)}); leave ${name} out to measure the work tree`
  return { head, notes: [note] }
}

export function few(paths: readonly string[], most = 3): string {
  return paths.slice(0, most).join(', ') + (paths.length > most ? ', …' : '')
}

/** A commit of the person's repository, by any name git has for it. */
async function commitNamed({ directory, env }: Call['around'], name: string): Promise<string> {
  const git = gitRunner(localIsolation(directory, env))
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
  const near = nearest(name, names)
  throw new UserError(`there is no branch, tag or commit ${JSON.stringify(name)} in this repository`, {
    fix: near === undefined ? fetchFirst(names) : `did you mean ${near}?`,
  })
}

function fetchFirst(names: readonly string[]): string {
  const known = names.length === 0 ? 'it has none' : `it has ${few(names, 5)}`
  return `${known}; what is only on the remote has to be fetched first (git fetch)`
}
