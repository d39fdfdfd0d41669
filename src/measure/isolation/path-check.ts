import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** A forbidden ability of a side's user, as a shell test, with the folder it concerns. */
export interface PathRisk {
  asks: string
  folder: string
}

/** The kernel's own limit. */
const MOST_LINKS = 40
const STICKY = 0o1000

/**
 * Programs are found by PATH. A user with write permission to a PATH folder, a program in it, or a folder on
 * the way there chooses what others run. A relative folder is in the side's own tree and affects only that
 * side.
 */
export function listPathRisks(searched: string): PathRisk[] {
  const risks = new Map<string, PathRisk>()
  const add = (test: string, folder: string) => risks.set(test, { asks: test, folder })
  for (const path of searched.split(':').filter(isAbsolute)) {
    const lookups = listLookupFolders(path)
    for (const { folder, nextExists } of lookups) {
      add(`test -O ${quoteShell(folder)}`, folder)
      // In a sticky folder only its owner can rename an entry, and the next folder exists.
      if (!(nextExists && isSticky(folder))) add(`test -w ${quoteShell(folder)}`, folder)
    }
    const last = lookups.at(-1)
    if (last?.nextExists === false && !last.ends) add(buildProgramTest(last.folder), last.folder)
  }
  return [...risks.values()]
}

interface LookupFolder {
  folder: string
  nextExists: boolean
  /** Lookup stops here because the next folder is missing. */
  ends: boolean
}

/** Every folder in which a name is looked up, including those behind links. */
function listLookupFolders(path: string): LookupFolder[] {
  const folders: LookupFolder[] = []
  let links = 0
  let at = '/'
  const parts = path.split('/')
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (part === '' || part === '.') continue
    if (part === '..') {
      at = dirname(at)
      continue
    }
    const next = join(at, part)
    const found: Stats | undefined = lstatSync(next, { throwIfNoEntry: false })
    const missing = found === undefined || (found.isSymbolicLink() && ++links > MOST_LINKS)
    folders.push({ folder: at, nextExists: !missing, ends: missing })
    if (missing) return folders
    if (found.isSymbolicLink()) {
      const target = readlinkSync(next)
      parts.unshift(...target.split('/'))
      if (isAbsolute(target)) at = '/'
    } else at = next
  }
  return [...folders, { folder: at, nextExists: false, ends: false }]
}

function isSticky(folder: string): boolean {
  return (lstatSync(folder).mode & STICKY) !== 0
}

function buildProgramTest(folder: string): string {
  const own = 'test -w "$f" || test -O "$f"'
  return `(for f in ${quoteShell(folder)}/*; do if test -f "$f" && { ${own}; }; then exit 0; fi; done; exit 1)`
}

export function quoteShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
