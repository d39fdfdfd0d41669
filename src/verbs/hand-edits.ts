import { UserError } from '../errors.ts'
import { buildLocalIsolation } from '../git/isolation.ts'
import { type GitRunner, createGitRunner } from '../git/runner.ts'
import { readDigest, isAsWritten, withDigest, copyDigestLine } from '../setup/github/written-digest.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'
import type { Call } from './call.ts'
import type { SetupContext } from './github-sources.ts'
import { isUsualSpec } from './not-pushed.ts'

/** What has to change in a file that a person edited. */
export interface HandPatch {
  /** For `git apply`. */
  patch: string
  /** False: the edits of the person and the new lines are in the same places, and the patch takes the edits back. */
  keepsEdits: boolean
}

interface EditedFile {
  path: string
  now: string
  wanted: string
  /** What winnow writes for these specs, with the actions that the file has. */
  render: (specs: readonly Spec[]) => string
}

/**
 * The lines that winnow would change, as a patch of the file as it is now. What a person changed is what parts the file
 * from winnow's own version of it, and stays.
 */
export async function patchEditedFile(
  call: Call,
  { workshop: { repository, checkout }, base }: Pick<SetupContext, 'workshop' | 'base'>,
  edited: EditedFile,
): Promise<HandPatch> {
  const { path, now, wanted } = edited
  const date = Math.floor(call.around.clock.now() / 1000)
  const commit = async (text: string, parents: string[]) => {
    const entry = { mode: '100644' as const, oid: await repository.writeBlob(text) }
    const tree = await repository.replaceEntries(base.tree, [{ path, entry }])
    return { tree, commit: await repository.writeCommit({ tree, parents, message: path, date }) }
  }
  const { env } = call.around
  const here = checkout.topLevel
  const places = [
    ...(here === null ? [] : [{ git: createGitRunner(buildLocalIsolation(here, env)), from: 'HEAD' }]),
    { git: createGitRunner(buildLocalIsolation(repository.dir, env)), from: base.commit },
  ]
  const earlier = await findOwnVersion(places, edited)
  if (earlier !== null) {
    const origin = await commit(copyDigestLine(earlier, now), [])
    const theirs = await commit(now, [origin.commit])
    const ours = await commit(wanted, [origin.commit])
    const merged = await repository.mergeTree(theirs.commit, ours.commit)
    if (merged.clean)
      return { patch: await repository.patchBetween(theirs.tree, merged.tree), keepsEdits: true }
  }
  const [from, to] = [await commit(now, []), await commit(wanted, [])]
  return { patch: await repository.patchBetween(from.tree, to.tree), keepsEdits: false }
}

const MOST_COMMITS = 50

/**
 * The version that the digest in the file was taken of: it was committed as it is, or as a patch of an edited file beside
 * the specs that it was written for. Else the newest version in the history that nobody edited.
 */
async function findOwnVersion(
  places: readonly { git: GitRunner; from: string }[],
  { path, now, render }: EditedFile,
): Promise<string | null> {
  const digest = readDigest(now)
  let newest: string | null = null
  for (const { git, from } of places) {
    const commits = await listFileCommits(git, from, path)
    for (const commit of commits) {
      const text = await readFileVersion(git, commit, path)
      if (text === null || !isAsWritten(text)) continue
      if (readDigest(text) === digest) return text
      newest ??= text
    }
    for (const commit of commits) {
      const specs = await readSpecVersions(git, commit)
      const text = specs.length === 0 ? null : withDigest(render(specs))
      if (text !== null && readDigest(text) === digest) return text
    }
  }
  return newest
}

async function listFileCommits(git: GitRunner, from: string, path: string): Promise<string[]> {
  return git.run({
    args: ['log', '--format=%H', `--max-count=${MOST_COMMITS}`, from, '--', path],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\n').filter(Boolean) : []),
  })
}

async function readFileVersion(git: GitRunner, commit: string, path: string): Promise<string | null> {
  return git.run({
    args: ['show', `${commit}:${path}`],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout : null),
  })
}

/** A spec that could not be read then is left out. */
async function readSpecVersions(git: GitRunner, commit: string): Promise<Spec[]> {
  const paths = await git.run({
    args: ['ls-tree', '-z', '--name-only', '--full-tree', commit, '.winnow/'],
    answers: [128],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.split('\0').filter(isUsualSpec) : []),
  })
  const specs: Spec[] = []
  for (const file of paths.toSorted()) {
    try {
      specs.push(parseSpec((await readFileVersion(git, commit, file)) ?? '', { file }).spec)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
    }
  }
  return specs
}
