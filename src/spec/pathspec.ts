import { matchTokens, parseGlob } from './glob.ts'

/** Git's `:(top,glob)` pathspecs, matched byte by byte as git does. */

const WILDCARDS = /[*?[\\]/

/** `:(exclude)x`, `:/x`: magic of its own, which stands for itself once another magic is in front. */
export function hasMagic(pattern: string): boolean {
  return /^:[(/!^]/.test(pattern)
}

export function hasWildcard(pattern: string): boolean {
  return WILDCARDS.test(pattern)
}

/** The part before the first wildcard. */
export function getFixedPart(pattern: string): string {
  return hasWildcard(pattern) ? pattern.slice(0, pattern.search(WILDCARDS)) : pattern
}

/** Without `.` and doubled slashes, as git normalises a pathspec without magic; `.` alone is everything. */
export function normalisePattern(pattern: string): string {
  const parts = pattern.split('/')
  const kept = parts.filter(part => part !== '.' && part !== '').join('/')
  const below = ['', '.'].includes(parts.at(-1) ?? '')
  return below && kept !== '' ? `${kept}/` : kept
}

/** As git is to be given it. `a*b/` means everything below, for which git alone would take only a directory of that very name. */
export function toGitPathspecs(pattern: string): string[] {
  const written = normalisePattern(pattern)
  const below = written.endsWith('/') && hasWildcard(written) ? [`:(top,glob)${written}**`] : []
  return [`:(top,glob)${written}`, ...below]
}

/** One character per byte: to git `?` is a byte, and so is each member of a class. */
function toByteString(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1')
}

export function compilePathspec(pattern: string): (path: string) => boolean {
  const written = toByteString(normalisePattern(pattern))
  const literal = written.endsWith('/') ? written : `${written}/`
  const glob = written.endsWith('/') ? `${written}**` : written
  const fixed = getFixedPart(glob)
  const tokens = hasWildcard(glob) ? parseGlob(glob.slice(fixed.length)) : undefined
  return path => {
    const name = toByteString(path)
    if (written === '' || name === written || name.startsWith(literal)) return true
    return tokens !== undefined && name.startsWith(fixed) && matchTokens(tokens, name.slice(fixed.length))
  }
}
