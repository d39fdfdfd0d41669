import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RepositoryContext } from '../engine/open.ts'
import { UserError } from '../errors.ts'
import { listUncommittedPaths } from '../git/uncommitted.ts'
import type { Point } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import { parseSpec } from '../spec/parse.ts'
import type { Spec } from '../spec/schema.ts'
import { listPlannedFeatures } from '../spec/unsupported.ts'
import type { Call } from './call.ts'
import { listExistingSpecs } from './existing-specs.ts'

export interface SetupContext {
  workshop: RepositoryContext
  topLevel: string
  base: Point
}

/** Where `init --github` reads what there is. */
export interface FileSource {
  read(path: string): Promise<string | null>
}

/** A file of the work tree before the same one of the default branch: both may be about to be committed together. */
export function createWorkTreeSource({ topLevel }: SetupContext, committed: FileSource): FileSource {
  return {
    async read(path) {
      const file = join(topLevel, path)
      return existsSync(file) ? readFileSync(file, 'utf8') : committed.read(path)
    },
  }
}

/** The work tree alone: a file that was deleted there is to be written anew. */
export function createOnlyWorkTreeSource({ topLevel }: SetupContext): FileSource {
  return {
    read: async path =>
      existsSync(join(topLevel, path)) ? readFileSync(join(topLevel, path), 'utf8') : null,
  }
}

export function createDefaultBranchSource({ workshop: { repository }, base }: SetupContext): FileSource {
  return {
    async read(path) {
      const entry = await repository.findEntry(base.tree, path)
      return entry?.type === 'blob' ? (await repository.blob(entry.oid)).toString('utf8') : null
    },
  }
}

export interface FoundSpec {
  path: string
  spec: Spec
}

/** Every spec that the source has. */
export async function readGithubSpecs(
  { workshop, base }: SetupContext,
  source: FileSource,
): Promise<FoundSpec[]> {
  const found: FoundSpec[] = []
  for (const { path } of await listExistingSpecs(workshop, base)) {
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

export function requireSupportedSpecs(found: readonly FoundSpec[], where: 'github' | 'single-job'): void {
  for (const { path, spec } of found) {
    const missing = listPlannedFeatures(spec, where)
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
export async function listUnseenSpecs({ around }: Call, ground: SetupContext): Promise<UnseenSpec[]> {
  const [here, there] = [createOnlyWorkTreeSource(ground), createDefaultBranchSource(ground)]
  const changed = new Set(await listUncommittedPaths(ground.topLevel, around.env))
  const paths = (await listExistingSpecs(ground.workshop, ground.base)).map(({ path }) => path)
  const unseen: UnseenSpec[] = []
  for (const path of paths) {
    const [text, pushed] = [await here.read(path), await there.read(path)]
    if (text === null || text === pushed) continue
    if (pushed === null || changed.has(path)) unseen.push({ path, committed: !changed.has(path) })
  }
  return unseen
}

export function getDefaultBranchName({
  workshop: { defaultBranch: ref },
}: Pick<SetupContext, 'workshop'>): string {
  return toShortRef(ref ?? '')
}
