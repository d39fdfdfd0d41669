import { type Buffer, isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeEntry } from '../git/tree-object.ts'
import { toIdea } from './idea-block.ts'
import { PATCH_FILE, type PatchIdea, readPatchText } from './patch-text.ts'

/** An idea that lies in the repository as a patch: in a file of its own, or as one mail of several. */
export interface PatchFile extends PatchIdea {
  path: string
  /** Names the idea for good: a file or a mail that changes is a new idea. */
  key: string
}

type PatchTree = Pick<Repository, 'findEntry' | 'tree' | 'blob'>

/** The ideas of a folder of patches in name order; a folder that is not there has none. */
export async function readPatches(repo: PatchTree, tree: string, dir: string): Promise<PatchFile[]> {
  const folder = normalizeFolder(dir)
  const entry = await repo.findEntry(tree, folder)
  if (entry === null) return []
  if (entry.type !== 'tree') throw createNotFolderError(dir, 'is a file on the default branch')
  const files: PatchFile[] = []
  for (const child of await repo.tree(entry.oid)) {
    if (child.type === 'tree' || !PATCH_FILE.test(child.name)) continue
    files.push(...(await readPatch(repo, folder === '' ? child.name : `${folder}/${child.name}`, child)))
  }
  return files
}

function normalizeFolder(dir: string): string {
  const folder = posix.normalize(dir).replace(/\/+$/, '')
  return folder === '.' ? '' : folder
}

function createNotFolderError(dir: string, what: string): UserError {
  const fix = 'name a folder of patches, relative to the top of the repository'
  return new UserError(`propose.dir ${JSON.stringify(dir)} ${what}`, { place: { path: 'propose.dir' }, fix })
}

async function readPatch(repo: PatchTree, path: string, { oid, mode }: TreeEntry): Promise<PatchFile[]> {
  const isLink = mode === '120000' || mode === '160000'
  const ideas = isLink
    ? [withProblem(path, 'it is not a file but a link')]
    : readPatchBytes(await repo.blob(oid), path)
  return ideas.map(idea => ({ ...idea, path, key: `patch:${path}:${idea.part ?? oid}` }))
}

/** Bytes that are no UTF-8 text are one idea that cannot be read. */
export function readPatchBytes(bytes: Buffer, path: string): PatchIdea[] {
  if (isUtf8(bytes)) return readPatchText(bytes.toString('utf8'), path)
  const why = 'it is not UTF-8 text; propose a change to files in another encoding as a branch'
  return [withProblem(path, why)]
}

function withProblem(path: string, why: string): PatchIdea {
  const idea = toIdea({}, `patch ${path}`)
  return { idea, simplifies: false, part: null, content: { problem: `${path}: ${why}` } }
}
