import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'

const SPEC_FILE = /^[^/]+\.ya?ml$/

/** A spec as the default branch has it; a broken one is known by its file's name, with what is wrong. */
export interface CommittedSpecFile {
  name: string
  path: string
  spec: Spec | null
  problem: UserError | null
}

/** Those in `.winnow`, and whatever other files are named: a ce spec may lie anywhere. */
export async function listCommittedSpecs(
  { repository, defaultBranch }: RepositoryContext,
  others: readonly string[],
): Promise<CommittedSpecFile[]> {
  if (defaultBranch === null) return []
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) return []
  await repository.fetch([{ ref: defaultBranch, oid }])
  const { tree } = await repository.commit(oid)
  const found: CommittedSpecFile[] = []
  for (const path of new Set([...(await listSpecPaths(repository, tree)), ...others])) {
    const entry = await repository.findEntry(tree, path)
    if (entry?.type === 'blob')
      found.push(parseCommittedSpec(path, (await repository.blob(entry.oid)).toString('utf8')))
  }
  return found
}

async function listSpecPaths(repository: RepositoryContext['repository'], tree: string): Promise<string[]> {
  const directory = await repository.findEntry(tree, '.winnow')
  if (directory?.type !== 'tree') return []
  const entries = await repository.tree(directory.oid)
  return entries.flatMap(({ type, name }) =>
    type === 'blob' && SPEC_FILE.test(name) ? [`.winnow/${name}`] : [],
  )
}

function parseCommittedSpec(path: string, yaml: string): CommittedSpecFile {
  try {
    const { spec } = parseSpec(yaml, { file: path })
    return { name: spec.name, path, spec, problem: null }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { name: toSpecName(path), path, spec: null, problem: error }
  }
}

export function toSpecName(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.ya?ml$/, '')
}

/** One name, one campaign: with two specs of it nobody knows which one is meant. */
export function createDuplicateNameError(name: string, paths: readonly string[]): UserError {
  return new UserError(`${paths.toSorted().join(' and ')} are both named ${name}`, {
    place: { file: paths.toSorted()[0] ?? '', path: 'name' },
    fix: 'give one of them another name',
  })
}
