import type { Repository } from '../../git/repository.ts'
import { listTreeFiles } from '../../git/tree-walk.ts'
import { selectHarnessEntries, computeHarnessHash } from '../../measure/harness-hash.ts'
import type { Oid } from '../../model/ids.ts'
import type { Spec } from '../../spec/schema.ts'

/** Invariant 4: the hash of the ruler as a pinned tree holds it. */
export async function computeTreeHarness(repository: Repository, spec: Spec, tree: Oid): Promise<string> {
  return computeHarnessHash(spec, selectHarnessEntries(spec, await listTreeFiles(repository, tree)))
}
