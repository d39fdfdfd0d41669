import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Workshop } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { uncommittedPaths } from '../git/uncommitted.ts'
import type { Point } from '../model/ids.ts'
import { shortRef } from '../model/refs.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'
import { unsupported } from '../spec/unsupported.ts'
import type { Call } from './call.ts'
import { existingSpecs } from './existing-specs.ts'

export interface Ground {
  workshop: Workshop
  topLevel: string
  base: Point
}

/** Where `init --github` reads what there is. */
export interface Source {
  read(path: string): Promise<string | null>
}

/** A file of the work tree before the same one of the default branch: both may be about to be committed together. */
export function workTree({ topLevel }: Ground, committed: Source): Source {
  return {
    async read(path) {
      const file = join(topLevel, path)
      return existsSync(file) ? readFileSync(file, 'utf8') : committed.read(path)
    },
  }
}

/** The work tree alone: a file that was deleted there is to be written anew. */
export function onlyWorkTree({ topLevel }: Ground): Source {
  return {
    read: async path =>
      existsSync(join(topLevel, path)) ? readFileSync(join(topLevel, path), 'utf8') : null,
  }
}

export function defaultBranch({ workshop: { repository }, base }: Ground): Source {
  return {
    async read(path) {
      const entry = await repository.entryAt(base.tree, path)
      return entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : null
    },
  }
}

export interface FoundSpec {
  path: string
  spec: Spec
}

/** Every spec that the source has. */
export async function githubSpecs({ workshop, base }: Ground, source: Source): Promise<FoundSpec[]> {
  const found: FoundSpec[] = []
  for (const { path } of await existingSpecs(workshop, base)) {
    const text = await source.read(path)
    if (text === null) continue
    const { spec } = parseSpec(text, { file: path })
    found.push({ path, spec })
  }
  if (found.length > 0) return found
  throw new UserError('there is no spec yet, and the workflow is written for specs', {
    place: { file: '.winnow/<name>.yaml' },
    fix: 'winnow init writes one; then winnow init --github',
  })
}

export function requireSupported(found: readonly FoundSpec[], where: 'github' | 'single-job'): void {
  for (const { path, spec } of found) {
    const missing = unsupported(spec, where)
    if (missing.length === 0) continue
    const fix = 'remove or change what is named above; then winnow init --github'
    throw new UserError(missing.join('\n'), { place: { file: path }, fix })
  }
}

/** A spec of the work tree that a run on GitHub would not see as it is. */
interface UnseenSpec {
  path: string
  /** It only has to be pushed. */
  committed: boolean
}

/** Specs that the default branch does not have, or that have uncommitted changes. */
export async function unseenSpecs({ around }: Call, ground: Ground): Promise<UnseenSpec[]> {
  const [here, there] = [onlyWorkTree(ground), defaultBranch(ground)]
  const changed = new Set(await uncommittedPaths(ground.topLevel, around.env))
  const paths = (await existingSpecs(ground.workshop, ground.base)).map(({ path }) => path)
  const unseen: UnseenSpec[] = []
  for (const path of paths) {
    const [text, pushed] = [await here.read(path), await there.read(path)]
    if (text === null || text === pushed) continue
    if (pushed === null || changed.has(path)) unseen.push({ path, committed: !changed.has(path) })
  }
  return unseen
}

export function nameOfDefault({ workshop: { defaultBranch: ref } }: Pick<Ground, 'workshop'>): string {
  return shortRef(ref ?? '')
}
