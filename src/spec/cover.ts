import { compilePathspec, fixedPart, hasWildcard, normalisedPattern } from './pathspec.ts'

/** The directory or file a pattern names without wildcards: `d`, `d/` and `d/**` all name `d`. */
function stem(pattern: string): string | undefined {
  const named = pattern.replace(/(?:^|\/)(?:\*\*)?$/, '')
  return hasWildcard(named) ? undefined : named
}

function insideDirectory(wall: string, pattern: string, wallPattern: string): boolean {
  if (wall === '' || fixedPart(pattern).startsWith(`${wall}/`)) return true
  return stem(pattern) === wall && wallPattern === wall
}

/** True only when it is certain that every path the mutable pattern matches is matched by the immutable one. */
export function covers(immutable: string, mutable: string): boolean {
  const wallPattern = normalisedPattern(immutable)
  const pattern = normalisedPattern(mutable)
  if (wallPattern === pattern) return true
  const wall = stem(wallPattern)
  if (wall !== undefined) return insideDirectory(wall, pattern, wallPattern)
  const namesAFile = !hasWildcard(wallPattern.split('/').at(-1) ?? '')
  return namesAFile && !hasWildcard(pattern) && compilePathspec(immutable)(pattern)
}
