/** What one place of a pattern stands for: these characters, so many times. */
interface PatternPart {
  takes: (character: string) => boolean
  /** None of them is as good. */
  optional: boolean
  /** Any number of them. */
  repeats: boolean
}

/**
 * Whether a filter of a workflow fits a branch, as GitHub documents its patterns: `*` and `**`, `?` and `+` for what stands
 * before them, `[]`, and a backslash before what is meant as it is. One that cannot be read fits nothing. All ways are
 * followed at once: no pattern, whoever wrote it, takes long.
 */
export function isBranchMatch(pattern: string, branch: string): boolean {
  const parts = parsePattern(pattern)
  if (parts === null) return false
  let ends = new Set([0])
  for (const part of parts) ends = matchPart(part, branch, ends)
  return ends.has(branch.length)
}

/** Where one part may end that begins at any of these places. */
function matchPart(
  { takes, optional, repeats }: PatternPart,
  branch: string,
  begins: ReadonlySet<number>,
): Set<number> {
  const ends = new Set(optional ? begins : [])
  for (const begin of begins) {
    for (let at = begin; at < branch.length && takes(branch.charAt(at)); at++) {
      ends.add(at + 1)
      if (!repeats) break
    }
  }
  return ends
}

const TOKEN = /\*\*|\[[^\]]*\]|\\.|[^]/g
const IN_CLASS = /([a-z])-([a-z])|([A-Z])-([A-Z])|(\d)-(\d)|([^])/g

function parsePattern(pattern: string): PatternPart[] | null {
  const parts: PatternPart[] = []
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token === '?' || token === '+') {
      const before = parts.pop()
      if (before === undefined) return null
      parts.push(token === '?' ? { ...before, optional: true } : { ...before, repeats: true })
      continue
    }
    const takes = compileToken(token)
    if (takes === null) return null
    const any = token === '*' || token === '**'
    parts.push({ takes, optional: any, repeats: any })
  }
  return parts
}

function compileToken(token: string): PatternPart['takes'] | null {
  if (token === '**') return () => true
  if (token === '*') return character => character !== '/'
  if (token.startsWith('[')) return compileCharacterClass(token)
  const meant = token.length > 1 && token.startsWith('\\') ? token.slice(1) : token
  return character => character === meant
}

/** Characters and ranges; an empty one, or one without an end, is none. */
function compileCharacterClass(token: string): PatternPart['takes'] | null {
  if (!token.endsWith(']')) return null
  const ranges = [...token.slice(1, -1).matchAll(IN_CLASS)].map(found => {
    const [first = '', last = first] = found.slice(1).filter(end => end !== undefined)
    return { first, last }
  })
  if (ranges.length === 0) return null
  return character => ranges.some(({ first, last }) => first <= character && character <= last)
}
