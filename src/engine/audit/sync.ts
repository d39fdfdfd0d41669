import { UserError } from '../../errors.ts'
import type { MergeResult } from '../../git/merge-tree.ts'
import { assessCandidate } from '../../decide/assess.ts'
import { hashSha256 } from '../../model/canonical.ts'
import type { LedgerEvent } from '../../model/event.ts'
import type { Spec } from '../../spec/schema.ts'
import { findContainedLandings } from '../facts/sync.ts'
import { isUnread } from '../facts/unread-changes.ts'
import { computeTreeHarness } from '../facts/harness.ts'
import { listAbsentCommits, type IncumbentStep } from './incumbent-step.ts'
import { findStepMeasurement } from './measured-step.ts'

type SyncedEvent = LedgerEvent<'synced'>

/** A sync: the default branch's tip merged in and nothing else, measured with the ruler it brings. */
export async function findSyncGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const absent = await listAbsentCommits(step.place, [synced.default_tip])
  if (absent.length > 0) return absent
  const commit = await findSyncCommitGaps(step, synced)
  return commit.length > 0 ? commit : findSyncMeasurementGaps(step, synced)
}

async function findSyncCommitGaps(
  { place, campaign, from, to }: IncumbentStep,
  synced: SyncedEvent,
): Promise<string[]> {
  const { repository } = place
  const { default_tip: tip } = synced
  const { parents } = await repository.commit(to.commit)
  if (parents.length !== 2 || parents[0] !== from.commit || parents[1] !== tip)
    return [`its parents are ${parents.join(', ')}, not the incumbent ${from.commit} and ${tip}`]
  const { tree } = await repository.commit(tip)
  if (tree !== synced.default_tree) return [`its default branch has tree ${tree}, not ${synced.default_tree}`]
  const holds = await findContainedLandings(repository, campaign, tip)
  if (holds.join() !== synced.holds.join())
    return [
      `of what was kept ${tip} has ${holds.join(', ') || 'nothing'}, not ${synced.holds.join(', ') || 'nothing'}`,
    ]
  const merged = await mergeOrConflict(repository.mergeTree(from.commit, tip))
  if (!merged.clean) return [`${tip} does not merge with the incumbent ${from.commit}`]
  return merged.tree === to.tree ? [] : [`merging ${tip} makes tree ${merged.tree}, not ${to.tree}`]
}

async function mergeOrConflict(merge: Promise<MergeResult>): Promise<MergeResult> {
  try {
    return await merge
  } catch (error) {
    if (error instanceof UserError) return { clean: false, conflicts: [] }
    throw error
  }
}

async function findSyncMeasurementGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { campaign, spec } = step
  const { order: resting, seq } = synced
  if (resting === null) return findUnreadGaps(step, synced)
  const measured = findStepMeasurement(step, { order: resting, seq }, 'sync')
  if ('gaps' in measured) return measured.gaps
  const { name, order, report } = measured
  if (spec === null) return ['the spec in force cannot be read']
  if (order.harness !== campaign.harness || order.spec_sha256 !== campaign.spec_sha256)
    return [`${name} was measured with another ruler than the one in force since`]
  const ruler = await findSyncRulerGaps(step, synced, spec)
  if (ruler.length > 0) return ruler
  const { outcome, reason } = assessCandidate({ spec, order, report, label: 'sync', baseline: null })
  return outcome === 'eligible' ? [] : [`judged again, ${name} says ${outcome}: ${reason}`]
}

/** A sync without a measurement is valid only if no measuring command can read the changed files. */
async function findUnreadGaps(step: IncumbentStep, synced: SyncedEvent): Promise<string[]> {
  const { place, spec, evidence, from, to } = step
  if (evidence.harnessChanges.has(to.commit)) return ['it was not measured, and changes the harness']
  if (spec === null) return ['the spec in force cannot be read']
  const ruler = await findSyncRulerGaps(step, synced, spec)
  if (ruler.length > 0) return ruler
  return (await isUnread(place.repository, spec, { from: from.tree, to: to.tree }))
    ? []
    : ['it was not measured, and the harness, a gate or the set-up may read what it brings']
}

async function findSyncRulerGaps(
  { place, campaign, to }: IncumbentStep,
  synced: SyncedEvent,
  spec: Spec,
): Promise<string[]> {
  const harness = await computeTreeHarness(place.repository, spec, to.tree)
  if (harness !== synced.harness)
    return [`its harness is ${harness.slice(0, 12)}, event ${synced.seq} says ${synced.harness.slice(0, 12)}`]
  const { tree } = await place.repository.commit(synced.default_tip)
  const entry = await place.repository.findEntry(tree, campaign.spec_path)
  if (entry?.type !== 'blob') return [`${campaign.spec_path} is not in ${synced.default_tip}`]
  const found = hashSha256((await place.repository.blob(entry.oid)).toString('utf8'))
  if (found === campaign.default_spec_sha256) return []
  return [`the spec of ${synced.default_tip} is ${found.slice(0, 12)}, which no event put in force`]
}
