import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'

const SPEC_FILE = /^[^/]+\.ya?ml$/

/** A spec as the default branch has it; a broken one is known by its file's name, with what is wrong. */
export interface CommittedSpec {
  name: string
  path: string
  spec: Spec | null
  problem: UserError | null
}

/** Those in `.winnow`, and whatever other files are named: a ce spec may lie anywhere. */
export async function committedSpecs(
  { repository, defaultBranch }: Workshop,
  others: readonly string[],
): Promise<CommittedSpec[]> {
  if (defaultBranch === null) return []
  const oid = (await repository.remoteRefs([defaultBranch])).refs.get(defaultBranch)
  if (oid === undefined) return []
  await repository.fetch([{ ref: defaultBranch, oid }])
  const { tree } = await repository.commit(oid)
  const found: CommittedSpec[] = []
  for (const path of new Set([...(await usualPaths(repository, tree)), ...others])) {
    const entry = await repository.entryAt(tree, path)
    if (entry?.type === 'blob') found.push(read(path, (await repository.blob(entry.oid)).toString('utf8')))
  }
  return found
}

async function usualPaths(repository: Workshop['repository'], tree: string): Promise<string[]> {
  const directory = await repository.entryAt(tree, '.winnow')
  if (directory?.type !== 'tree') return []
  const entries = await repository.tree(directory.oid)
  return entries.flatMap(({ type, name }) =>
    type === 'blob' && SPEC_FILE.test(name) ? [`.winnow/${name}`] : [],
  )
}

function read(path: string, yaml: string): CommittedSpec {
  try {
    const { spec } = parseSpec(yaml, { file: path })
    return { name: spec.name, path, spec, problem: null }
  } catch (error) {
    if (!(error instanceof UserError)) throw error
    return { name: nameOfFile(path), path, spec: null, problem: error }
  }
}

export function nameOfFile(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.ya?ml$/, '')
}

/** One name, one campaign: with two specs of it nobody knows which one is meant. */
export function twins(name: string, paths: readonly string[]): UserError {
  return new UserError(`${paths.toSorted().join(' and ')} are both named ${name}`, {
    place: { file: paths.toSorted()[0] ?? '', path: 'name' },
    fix: 'give one of them another name',
  })
}
