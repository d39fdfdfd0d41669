/** Returns true for a range that is not understood, because it may match any version. */
export function canMatchRange(version: string, range: string): boolean {
  const parts = parseVersionNumbers(version)
  if (parts === null) return false
  // `1.2 - 2.3` has other bounds in each ecosystem.
  if (/\s-\s/.test(range)) return true
  return range.split('||').some(either => isWithinTerms(parts, either))
}

type VersionNumbers = readonly number[]

/** Null for prereleases: a range matches one only if it names it. */
function parseVersionNumbers(version: string): VersionNumbers | null {
  const [, numbers] = /^v?(\d+(?:\.\d+)*)(?:\+.*)?$/.exec(version.trim()) ?? []
  return numbers === undefined ? null : numbers.split('.').map(Number)
}

const TERM = /^(\^|~>|~=|~|>=|<=|!=|===?|=|>|<)?\s*v?(\d+(?:\.(?:\d+|[x*]))*(?:\.[x*])?)$/i

function isWithinTerms(version: VersionNumbers, range: string): boolean {
  const terms = range
    .replaceAll(/(\^|~>|~=|~|>=|<=|!=|===?|=|>|<)\s+/g, '$1')
    .split(/[\s,]+/)
    .filter(term => term !== '')
  return terms.every(term => isTermMet(version, term))
}

function isTermMet(version: VersionNumbers, term: string): boolean {
  const [, operator = '', written] = TERM.exec(term) ?? []
  if (written === undefined) return true
  const open = /\.[x*]/i.test(written)
  const wanted = written
    .replace(/\.[x*].*$/i, '')
    .split('.')
    .map(Number)
  const order = compareVersionNumbers(version, wanted)
  switch (operator) {
    case '>':
      return order > 0
    case '>=':
      return order >= 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '!=':
      return open ? !hasVersionPrefix(version, wanted) : order !== 0
    case '^':
      return (
        order >= 0 &&
        hasVersionPrefix(version, wanted.slice(0, Math.max(1, wanted.findIndex(part => part > 0) + 1)))
      )
    case '~':
      return order >= 0 && hasVersionPrefix(version, wanted.slice(0, 2))
    case '~>':
    case '~=':
      return order >= 0 && hasVersionPrefix(version, wanted.slice(0, Math.max(1, wanted.length - 1)))
    default:
      return hasVersionPrefix(version, wanted)
  }
}

function compareVersionNumbers(left: VersionNumbers, right: VersionNumbers): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function hasVersionPrefix(version: VersionNumbers, wanted: VersionNumbers): boolean {
  return wanted.every((part, index) => (version[index] ?? 0) === part)
}
