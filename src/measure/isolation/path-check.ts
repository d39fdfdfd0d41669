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
  const reaches = new Map<string, PathRisk>()
  const add = (asks: string, folder: string) => reaches.set(asks, { asks, folder })
  for (const path of searched.split(':').filter(isAbsolute)) {
    const way = listLookupFolders(path)
    for (const { folder, leadsOn } of way) {
      add(`test -O ${quoteShell(folder)}`, folder)
      // In a sticky folder only its owner can rename an entry, and the next folder exists.
      if (!(leadsOn && isSticky(folder))) add(`test -w ${quoteShell(folder)}`, folder)
    }
    const last = way.at(-1)
    if (last?.leadsOn === false && !last.ends) add(buildProgramTest(last.folder), last.folder)
  }
  return [...reaches.values()]
}

interface LookupFolder {
  folder: string
  /** The next folder exists in it. */
  leadsOn: boolean
  /** Lookup stops here because the next folder is missing. */
  ends: boolean
}

/** Every folder in which a name is looked up, including those behind links. */
function listLookupFolders(path: string): LookupFolder[] {
  const passed: LookupFolder[] = []
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
    passed.push({ folder: at, leadsOn: !missing, ends: missing })
    if (missing) return passed
    if (found.isSymbolicLink()) {
      const target = readlinkSync(next)
      parts.unshift(...target.split('/'))
      if (isAbsolute(target)) at = '/'
    } else at = next
  }
  return [...passed, { folder: at, leadsOn: false, ends: false }]
}

function isSticky(folder: string): boolean {
  return (lstatSync(folder).mode & STICKY) !== 0
}

function buildProgramTest(folder: string): string {
  const own = 'test -w "$f" || test -O "$f"'
  return `(for f in ${quoteShell(folder)}/*; do if test -f "$f" && { ${own}; }; then exit 0; fi; done; exit 1)`
}

export function quoteShell(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`
}
