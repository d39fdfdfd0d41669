import { compilePathspec, getFixedPart, hasWildcard, normalisePattern } from './pathspec.ts'

/** The directory or file a pattern names without wildcards: `d`, `d/` and `d/**` all name `d`. */
function findLiteralStem(pattern: string): string | undefined {
  const named = pattern.replace(/(?:^|\/)(?:\*\*)?$/, '')
  return hasWildcard(named) ? undefined : named
}

function isInsideDirectory(wall: string, pattern: string, wallPattern: string): boolean {
  if (wall === '' || getFixedPart(pattern).startsWith(`${wall}/`)) return true
  return findLiteralStem(pattern) === wall && wallPattern === wall
}

/** True only when it is certain that every path the mutable pattern matches is matched by the immutable one. */
export function isCoveredByPattern(immutable: string, mutable: string): boolean {
  const wallPattern = normalisePattern(immutable)
  const pattern = normalisePattern(mutable)
  if (wallPattern === pattern) return true
  const wall = findLiteralStem(wallPattern)
  if (wall !== undefined) return isInsideDirectory(wall, pattern, wallPattern)
  const namesAFile = !hasWildcard(wallPattern.split('/').at(-1) ?? '')
  return namesAFile && !hasWildcard(pattern) && compilePathspec(immutable)(pattern)
}
