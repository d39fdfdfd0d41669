import type { Repository } from '../../git/repository.ts'
import { treeFiles } from '../../git/tree-walk.ts'
import { harnessEntries, harnessHash } from '../../measure/harness-hash.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'

/** Invariant 4: the hash of the ruler as a pinned tree holds it. */
export async function harnessOf(repository: Repository, spec: Spec, tree: Oid): Promise<string> {
  return harnessHash(spec, harnessEntries(spec, await treeFiles(repository, tree)))
}
