import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { listTreeFiles } from '../git/tree-walk.ts'
import { encodeName } from '../git/path-bytes.ts'
import type { Oid } from '../model/ids.ts'
import type { TreeSource } from './input.ts'

/** A file whose content is known: by git's tree, or because winnow put it there itself. */
export interface TrackedFile {
  path: string
  mode: string
  oid: Oid
}

export async function listTrackedFiles(repository: TreeSource, tree: Oid): Promise<TrackedFile[]> {
  return listTreeFiles(repository, tree)
}

/** Every folder that one of these lies in. */
export function listFolders(files: readonly Pick<TrackedFile, 'path'>[]): Set<string> {
  const folders = new Set<string>()
  for (const { path } of files) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (folders.has(path.slice(0, at))) break
      folders.add(path.slice(0, at))
    }
  }
  return folders
}

const NOT_UTF8 = /[\u{DC80}-\u{DCFF}]/u

/** Names are bytes; the rare one that is not UTF-8 needs them. */
export function toDiskPath(dir: string, path: string): string | Buffer {
  const whole = `${dir}/${path}`
  return NOT_UTF8.test(path) ? Buffer.concat([Buffer.from(`${dir}/`), encodeName(path)]) : whole
}

/** What git would call this content: files are laid out byte for byte, so it must be the tree's own id. */
export function computeContentId(path: string | Buffer, isLink: boolean, format: 'sha1' | 'sha256'): Oid {
  const content = isLink ? readlinkSync(path, { encoding: 'buffer' }) : readFileSync(path)
  return createHash(format).update(`blob ${content.length}\0`).update(content).digest('hex')
}
