import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import { toNullIfMissing } from '../git/bare-repository.ts'
import { listTreeFiles } from '../git/tree-walk.ts'
import type { Point } from '../model/ids.ts'
import { toSpecName } from './committed-specs.ts'

const SPEC_PATH = /^\.winnow\/[^/]+\.ya?ml$/

/** Specs of the work tree and of the default branch: either is in the way of a new one of its name. */
export async function listExistingSpecs(
  { repository, checkout }: RepositoryContext,
  base: Point,
): Promise<{ name: string; path: string }[]> {
  const committed = (await listTreeFiles(repository, base.tree)).map(({ path }) => path)
  const here =
    checkout.topLevel === null
      ? null
      : await readdir(join(checkout.topLevel, '.winnow')).catch(toNullIfMissing)
  const paths = new Set([...committed, ...(here ?? []).map(name => `.winnow/${name}`)])
  return [...paths]
    .filter(path => SPEC_PATH.test(path))
    .toSorted()
    .map(path => ({ path, name: toSpecName(path) }))
}
