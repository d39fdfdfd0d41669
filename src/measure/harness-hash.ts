import { toCanonicalJson, hashSha256 } from '../model/canonical.ts'
import { getHarnessSection } from '../spec/harness.ts'
import { compileUnreadPathTest } from '../spec/aside-paths.ts'
import { compilePathspec } from '../spec/pathspec.ts'
import type { Spec } from '../spec/schema.ts'
import { compileScope } from '../spec/scope.ts'

export interface HarnessEntry {
  path: string
  mode: string
  oid: string
}

/**
 * Of the pin's files those that make the ruler: scope.immutable, or without it everything outside mutable but
 * documentation, specs and patches, which are no part of what measures.
 */
export function selectHarnessEntries(spec: Spec, files: readonly HarnessEntry[]): HarnessEntry[] {
  const immutable = spec.scope.immutable.map(compilePathspec)
  const scope = compileScope(spec)
  const isAside = compileUnreadPathTest(spec)
  const belongs = (path: string) =>
    immutable.length > 0 ? immutable.some(matches => matches(path)) : !scope.isMutable(path) && !isAside(path)
  return files.filter(({ path }) => belongs(path))
}

/** Invariant 4: the ruler, as one number. The order of the entries does not matter. */
export function computeHarnessHash(spec: Spec, entries: readonly HarnessEntry[]): string {
  const tree = entries
    .map(({ path, mode, oid }) => ({ path, mode, oid }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return hashSha256(toCanonicalJson({ ...getHarnessSection(spec), tree }))
}
