import { UserError } from '../errors.ts'
import { compareTrees, listTreeFiles } from '../git/tree.ts'
import { hashSha256, toCanonicalJson } from '../model/canonical-json.ts'
import type { Oid } from '../model/ids.ts'
import type { Spec } from '../spec/schema.ts'
import { compilePathspec, compileScope, compileUnreadPathTest } from '../spec/scope.ts'
import { getHarnessSection, isJudgedMetric } from '../spec/spec-facts.ts'
import type { MeasureInput } from './session.ts'
import type { TrackedFile } from './tamper-check.ts'

/** Refuses settings that this runner does not support before any code runs. */
export function refuseUnsupported({ spec, users, order, onItems }: MeasureInput): void {
  const { measurement } = spec
  const refuse = (path: string, what: string, fix: string): never => {
    throw new UserError(what, { place: { path }, fix })
  }
  const { isolation } = measurement
  if (isolation === 'bwrap' || typeof isolation === 'object') {
    const what = 'bwrap and container isolation are not available yet'
    refuse('measurement.isolation', what, 'use auto, uid or none')
  }
  if (isolation === 'uid' && users === undefined) {
    const what = 'measurement.isolation is uid, but this runner has no users for the sides'
    refuse('measurement.isolation', what, 'use auto')
  }
  if (measurement.network === 'off') {
    const what = 'the network can only be cut off by bwrap or a container'
    refuse('measurement.network', what, 'use network: on')
  }
  if (isJudgedMetric(spec) && onItems === undefined && order.stop.rule !== 'alone') {
    const what = 'this runner has no model to score the printed items'
    refuse('metric.primary.type', what, 'measure it with winnow run')
  }
}

// Harness

/** Invariant 4: the harness matches the order, and files outside scope.mutable match the pin. */
export async function findRefusal(
  input: MeasureInput,
  sides: readonly { label: string; tree: Oid }[],
): Promise<string | null> {
  const { order, spec, repository } = input
  const pinned = selectHarnessEntries(spec, await listTreeFiles(repository, order.pin.tree))
  if (computeHarnessHash(spec, pinned) !== order.harness)
    return 'the harness of the pinned commit differs from the ordered one'
  if (input.unpinned) return null
  for (const { label, tree } of sides) {
    const stray = await findStrayPath(input, tree)
    if (stray !== null)
      return `${label}: ${stray} is outside scope.mutable and differs from the pinned commit`
  }
  return null
}

async function findStrayPath({ repository, order, spec }: MeasureInput, tree: Oid): Promise<string | null> {
  const scope = compileScope(spec)
  const differences = await compareTrees(repository, order.pin.tree, tree)
  return differences.find(({ path }) => !scope.isMutable(path))?.path ?? null
}

type HarnessEntry = Pick<TrackedFile, 'path' | 'mode' | 'oid'>

/**
 * The pin's files that make up the harness: scope.immutable or, without it, all files outside mutable except
 * documentation, specs and patches, which do not measure.
 */
export function selectHarnessEntries(spec: Spec, files: readonly HarnessEntry[]): HarnessEntry[] {
  const immutable = spec.scope.immutable.map(compilePathspec)
  const scope = compileScope(spec)
  const isAside = compileUnreadPathTest(spec)
  const belongs = (path: string) =>
    immutable.length > 0 ? immutable.some(matches => matches(path)) : !scope.isMutable(path) && !isAside(path)
  return files.filter(({ path }) => belongs(path))
}

/** Invariant 4: identifies the harness. Independent of the order of entries. */
export function computeHarnessHash(spec: Spec, entries: readonly HarnessEntry[]): string {
  const tree = entries
    .map(({ path, mode, oid }) => ({ path, mode, oid }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return hashSha256(toCanonicalJson({ ...getHarnessSection(spec), tree }))
}
