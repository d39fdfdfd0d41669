import { UserError } from '../../errors.ts'
import type { Repository } from '../../git/repository.ts'
import { listTreeFiles } from '../../git/tree.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'
import { compileHiddenPathTest } from '../../spec/scope.ts'
import { listHiddenPaths } from '../../spec/spec-facts.ts'

type TreeReader = Pick<Repository, 'tree'>

/** Proposers get the repository with its history, so a committed file cannot be hidden from them. Null: none is. */
export async function explainExposedPath(
  repository: TreeReader,
  spec: Spec,
  tree: Oid,
): Promise<string | null> {
  if (listHiddenPaths(spec).length === 0) return null
  const isHidden = compileHiddenPathTest(spec)
  const exposed = (await listTreeFiles(repository, tree)).find(({ path }) => isHidden(path))
  return exposed === undefined
    ? null
    : `metric.judge.hidden_reference_paths: ${exposed.path} is in the repository, so every proposer can read it`
}

export async function requireHiddenPaths(
  repository: TreeReader,
  { spec, file }: { spec: Spec; file: string },
  tree: Oid,
): Promise<void> {
  const exposed = await explainExposedPath(repository, spec, tree)
  if (exposed === null) return
  throw new UserError(exposed, {
    place: { file, path: 'metric.judge.hidden_reference_paths' },
    fix: 'remove the file from the branch and its history, and have the harness read it from elsewhere',
  })
}
