import { copyFileSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { dirname, isAbsolute, join, normalize } from 'node:path'
import { UserError } from '../errors.ts'
import { computeContentId, type TrackedFile } from './tracked-file.ts'

/** `parallel.shared_files` as single files; one that is not there is an error before anything runs. */
export function listSharedFiles(paths: readonly string[], root: string | null): string[] {
  if (paths.length === 0) return []
  if (root === null) {
    throw new UserError('parallel.shared_files needs the repository the files lie in', {
      place: { path: 'parallel.shared_files' },
      fix: 'run where the repository is checked out, or commit what the measurement needs',
    })
  }
  return paths.flatMap(path => listFilesBelow(root, requireSharedPath(path, root)))
}

/** Copies them into a side's tree. They are watched like tracked files. */
export function copySharedFiles(
  paths: readonly string[],
  root: string,
  tree: string,
  format: 'sha1' | 'sha256',
): TrackedFile[] {
  return paths.map(path => {
    const target = join(tree, path)
    mkdirSync(dirname(target), { recursive: true })
    rmSync(target, { force: true })
    copyFileSync(join(root, path), target, constants.COPYFILE_FICLONE)
    const mode = (statSync(target).mode & 0o100) === 0 ? '100644' : '100755'
    return { path, mode, oid: computeContentId(target, false, format) }
  })
}

function requireSharedPath(path: string, root: string): string {
  const place = { path: 'parallel.shared_files' }
  const inside = normalize(path)
  if (isAbsolute(inside) || inside === '..' || inside.startsWith('../')) {
    throw new UserError(`${path} lies outside the repository`, { place, fix: 'name files below its root' })
  }
  if (!existsSync(join(root, inside))) {
    throw new UserError(`parallel.shared_files: ${path} does not exist in ${root}`, {
      place,
      fix: 'create it, or take it off the list',
    })
  }
  return inside.replace(/\/$/, '')
}

function listFilesBelow(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap(name => listFilesBelow(root, `${path}/${name}`))
}
