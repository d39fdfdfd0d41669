/** Whether a version may be what a range comes to. A range that is not understood may come to any version. */
export function mayBe(version: string, range: string): boolean {
  const parts = partsOf(version)
  if (parts === null) return false
  return range.split('||').some(either => allHold(parts, either))
}

type Parts = readonly number[]

/** Null for prereleases, to which a range comes only where it names one. */
function partsOf(version: string): Parts | null {
  const [, numbers] = /^v?(\d+(?:\.\d+)*)(?:\+.*)?$/.exec(version.trim()) ?? []
  return numbers === undefined ? null : numbers.split('.').map(Number)
}

const TERM = /^(\^|~>|~=|~|>=|<=|!=|===?|=|>|<)?\s*v?(\d+(?:\.(?:\d+|[x*]))*(?:\.[x*])?)$/i

function allHold(version: Parts, range: string): boolean {
  const terms = range
    .replaceAll(/(\^|~>|~=|~|>=|<=|!=|===?|=|>|<)\s+/g, '$1')
    .split(/[\s,]+/)
    .filter(term => term !== '')
  return terms.every(term => holds(version, term))
}

function holds(version: Parts, term: string): boolean {
  const [, operator = '', written] = TERM.exec(term) ?? []
  if (written === undefined) return true
  const open = /\.[x*]/i.test(written)
  const wanted = written
    .replace(/\.[x*].*$/i, '')
    .split('.')
    .map(Number)
  const order = compare(version, wanted)
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
      return open ? !startsWith(version, wanted) : order !== 0
    case '^':
      return (
        order >= 0 &&
        startsWith(version, wanted.slice(0, Math.max(1, wanted.findIndex(part => part > 0) + 1)))
      )
    case '~':
      return order >= 0 && startsWith(version, wanted.slice(0, 2))
    case '~>':
    case '~=':
      return order >= 0 && startsWith(version, wanted.slice(0, Math.max(1, wanted.length - 1)))
    default:
      return startsWith(version, wanted)
  }
}

function compare(left: Parts, right: Parts): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function startsWith(version: Parts, wanted: Parts): boolean {
  return wanted.every((part, index) => (version[index] ?? 0) === part)
}
