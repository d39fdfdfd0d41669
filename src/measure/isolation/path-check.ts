import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** What the user of a side must not be able to do, as a question to its shell, and to which folder it would. */
export interface PathRisk {
  asks: string
  folder: string
}

/** As many links as the kernel follows. */
const MOST_LINKS = 40
const STICKY = 0o1000

/**
 * Everybody finds programs by PATH: who may write to one of its folders, to a program in it, or to a folder through which
 * it is looked up, chooses what others run. A relative folder lies in the side's own tree, and is nobody else's.
 */
export function listPathRisks(searched: string): PathRisk[] {
  const reaches = new Map<string, PathRisk>()
  const add = (asks: string, folder: string) => reaches.set(asks, { asks, folder })
  for (const path of searched.split(':').filter(isAbsolute)) {
    const way = listLookupFolders(path)
    for (const { folder, leadsOn } of way) {
      add(`test -O ${quoteShell(folder)}`, folder)
      // There nobody renames what is another's, and what leads on is there.
      if (!(leadsOn && isSticky(folder))) add(`test -w ${quoteShell(folder)}`, folder)
    }
    const last = way.at(-1)
    if (last?.leadsOn === false && !last.ends) add(buildProgramTest(last.folder), last.folder)
  }
  return [...reaches.values()]
}

interface LookupFolder {
  folder: string
  /** The next one exists in it. */
  leadsOn: boolean
  /** The way ends here, since the next one is missing. */
  ends: boolean
}

/** Every folder in which a name is looked up, those behind links too. */
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
