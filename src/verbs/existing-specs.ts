import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Workshop } from '../engine/open.ts'
import { nullIfMissing } from '../git/bare-repository.ts'
import { treeFiles } from '../git/tree-walk.ts'
import type { Point } from '../model/ids.ts'
import { nameOfFile } from './committed-specs.ts'

const SPEC = /^\.winnow\/[^/]+\.ya?ml$/

/** Specs of the work tree and of the default branch: either is in the way of a new one of its name. */
export async function existingSpecs(
  { repository, checkout }: Workshop,
  base: Point,
): Promise<{ name: string; path: string }[]> {
  const committed = (await treeFiles(repository, base.tree)).map(({ path }) => path)
  const here =
    checkout.topLevel === null ? null : await readdir(join(checkout.topLevel, '.winnow')).catch(nullIfMissing)
  const paths = new Set([...committed, ...(here ?? []).map(name => `.winnow/${name}`)])
  return [...paths]
    .filter(path => SPEC.test(path))
    .toSorted()
    .map(path => ({ path, name: nameOfFile(path) }))
}
