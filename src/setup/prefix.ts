import { toShortRef } from '../model/refs.ts'

export interface ChosenPrefix {
  prefix: string
  /** The branch that is in the way of the usual prefix; null where none is. */
  because: string | null
}

const FAMILIES = ['', '-exp', '-campaign', '-state', '-closed', '-archive', '-forge']
const CANDIDATES = ['optimize', 'winnow', 'winnow-optimize', 'optimize-winnow']

/** Branches that somebody else made are never written, and git keeps no branch below another. */
export function choosePrefix(
  branches: readonly string[],
  name: string,
  isOurs: (branch: string) => boolean,
): ChosenPrefix {
  const others = branches.map(toShortRef).filter(branch => !isOurs(branch))
  const because = findConflictingBranch(others, 'optimize', name)
  const numbered = Array.from({ length: branches.length + 1 }, (_, index) => `optimize-${index + 2}`)
  const prefix = [...CANDIDATES, ...numbered].find(each => findConflictingBranch(others, each, name) === null)
  return { prefix: prefix ?? 'optimize', because }
}

function findConflictingBranch(branches: readonly string[], prefix: string, name: string): string | null {
  const found = branches.find(branch =>
    FAMILIES.some(family => {
      const top = `${prefix}${family}`
      const own = `${top}/${name}`
      return branch === top || branch === own || branch.startsWith(`${own}/`)
    }),
  )
  return found ?? null
}
