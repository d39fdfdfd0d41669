import { compilePathspec } from './pathspec.ts'
import type { Spec } from './schema.ts'

/** Invariant 4, trusted ruler: no spec can make the specs, the workflows or git's own rules mutable. */
export const ALWAYS_IMMUTABLE = ['.winnow', '.github', '**/.gitattributes', '**/.gitmodules'] as const

export type Scope = { isMutable: (path: string) => boolean }

/** A path as git's trees write it; anything else is never mutable. */
function isTreePath(path: string): boolean {
  return path.split('/').every(part => part !== '' && part !== '.' && part !== '..')
}

/** Everything outside mutable is refused; immutable wins where both match. */
export function compileScope(spec: Pick<Spec, 'scope'>): Scope {
  const mutable = spec.scope.mutable.map(compilePathspec)
  const immutable = [...spec.scope.immutable, ...ALWAYS_IMMUTABLE].map(compilePathspec)
  return {
    isMutable(path) {
      if (!isTreePath(path) || immutable.some(matches => matches(path))) return false
      return mutable.some(matches => matches(path))
    },
  }
}
