import { copyFileSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { lchown } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isMissing, isUnreachable, removeAll } from './file-system.ts'
import type { Owner } from './process/reaper.ts'
import type { SidePaths } from './session.ts'

/**
 * A side has a HOME of its own, which every execution finds as the set-up left it. For a side that runs as the user
 * of the person it holds links to the folders of the real one, so that tool chains and their stores still work: a new
 * file is private, a file in a folder that existed before is not.
 */
export interface HomeRequest {
  /** The HOME of the person. Null: none, or none that sides may see. */
  real: string | null
  owner: Owner | null
}

/** Folders in which every entry is linked by itself, so that new files are private. */
const OPENED =
  /^(?:|\.cache|\.config|\.local|\.local\/(?:lib|share|state)|\.npm|Library|Library\/Caches|\.local\/lib\/python[\d.]+(?:\/site-packages)?)$/

/** Python finds modules here that are single files. */
const MODULES = /^\.local\/lib\/python[\d.]+\/site-packages$/

/**
 * Not linked: settings and caches by which one side could choose what a tool of the other side runs. A tool that finds
 * none of these makes its own.
 */
const PRIVATE = [
  // What package managers take from these is not compared with a lockfile, or is linked into the tree itself.
  /^(?:\.cache|Library\/Caches)\/(?:pip|uv|yarn|winnow)$/,
  /^(?:\.local\/share\/pnpm|Library\/pnpm|\.pnpm-store)$/,
  /^\.npm\/(?!_cacache$)/,
  /^(?:\.config\/(?:pip|git|npm|yarn)|\.pip)$/,
  /\/site-packages\/(?:user|site)customize\b/,
]

/** Settings that tools only read, as copies. */
const COPIED = [
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.gitconfig',
  '.config/git/config',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  '.netrc',
  '.tool-versions',
  '.condarc',
]

export async function prepareHome({ home }: Pick<SidePaths, 'home'>, request: HomeRequest): Promise<void> {
  const { real, owner } = request
  await removeAll(home)
  mkdirSync(home, { mode: 0o700 })
  if (owner !== null) return lchown(home, owner.uid, owner.gid)
  if (real === null) return
  linkEntries(real, home, '')
  for (const path of COPIED) copySettings(join(real, path), join(home, path))
}

function linkEntries(real: string, home: string, folder: string): void {
  for (const name of listEntries(join(real, folder))) {
    const path = folder === '' ? name : `${folder}/${name}`
    const source = join(real, path)
    if (PRIVATE.some(each => each.test(path))) continue
    if (!isFolderBehind(source) && !MODULES.test(folder)) continue
    if (!OPENED.test(path)) symlinkSync(source, join(home, path))
    else {
      mkdirSync(join(home, path), { mode: 0o700 })
      linkEntries(real, home, path)
    }
  }
}

function listEntries(folder: string): string[] {
  return readUnlessMissing(() => readdirSync(folder)) ?? []
}

function isFolderBehind(path: string): boolean {
  return readUnlessMissing(() => statSync(path).isDirectory()) === true
}

function copySettings(from: string, to: string): void {
  if (readUnlessMissing(() => statSync(from).isFile()) !== true) return
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  readUnlessMissing(() => copyFileSync(from, to))
}

function readUnlessMissing<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (isMissing(error) || isUnreachable(error)) return null
    throw error
  }
}
