import { isUtf8 } from 'node:buffer'
import { posix } from 'node:path'
import { UserError } from '../errors.ts'
import type { Repository } from '../git/repository.ts'
import type { TreeEntry } from '../git/tree-object.ts'
import type { Oid } from '../model/ids.ts'
import type { Idea } from '../plan/world.ts'
import { splitFrontMatter } from './front-matter.ts'
import { asIdea, readBlock } from './idea-block.ts'

/** A patch somebody put into the repository: an idea and its diff, or why it cannot be read. */
export interface PatchFile {
  path: string
  blob: Oid
  /** Names the idea for good: a file that changes is a new idea. */
  key: string
  idea: Idea
  /** It says that it only makes the code simpler. */
  simplifies: boolean
  content: { diff: string; linesBefore: number } | { problem: string }
}

type TreeReader = Pick<Repository, 'entryAt' | 'tree' | 'blob'>

/** The `.patch` files of a folder in name order; a folder that is not there has none. */
export async function readPatches(repo: TreeReader, tree: Oid, dir: string): Promise<PatchFile[]> {
  const folder = folderPath(dir)
  const entry = await repo.entryAt(tree, folder)
  if (entry === null) return []
  if (entry.type !== 'tree') throw notAFolder(dir, 'is a file on the default branch')
  const files: PatchFile[] = []
  for (const child of await repo.tree(entry.oid)) {
    if (child.type === 'tree' || !child.name.endsWith('.patch')) continue
    files.push(await readPatch(repo, folder === '' ? child.name : `${folder}/${child.name}`, child))
  }
  return files
}

function folderPath(dir: string): string {
  const folder = posix.normalize(dir).replace(/\/+$/, '')
  if (folder.startsWith('/') || folder === '..' || folder.startsWith('../')) {
    throw notAFolder(dir, 'is not inside the repository')
  }
  return folder === '.' ? '' : folder
}

function notAFolder(dir: string, what: string): UserError {
  const fix = 'name a folder of .patch files, relative to the root of the repository'
  return new UserError(`propose.dir ${JSON.stringify(dir)} ${what}`, { place: { path: 'propose.dir' }, fix })
}

async function readPatch(repo: TreeReader, path: string, { oid, mode }: TreeEntry): Promise<PatchFile> {
  const file = { path, blob: oid, key: `patch:${path}:${oid}` }
  const unread = (problem: string): PatchFile => ({
    ...file,
    idea: asIdea({}, `patch ${path}`),
    simplifies: false,
    content: { problem },
  })
  if (mode === '120000' || mode === '160000') return unread(`${path} is not a file but a link`)
  const bytes = await repo.blob(oid)
  if (!isUtf8(bytes)) {
    return unread(`${path} is not UTF-8 text; propose a change to files in another encoding as a branch`)
  }
  const split = splitFrontMatter(bytes.toString('utf8'), path)
  if (split === null) {
    return unread(`${path}:1: no front matter; begin the file with ---, hypothesis: <one sentence>, ---`)
  }
  const block = readBlock(split.block)
  if (!block.ok) return unread(block.problem)
  const { rest: diff, linesBefore } = split
  const simplifies = block.told.kind === 'simplify'
  return { ...file, idea: asIdea(block.told, path), simplifies, content: { diff, linesBefore } }
}
