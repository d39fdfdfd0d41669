import {
  comparePulls,
  type PullDifference,
  renderDesiredPulls,
} from '../../src/engine/controller/desired-pulls.ts'
import type { ForgeChange } from '../../src/github/port.ts'
import { computeMarkerKey } from '../../src/github/pull-node.ts'
import type { SyncObstacle } from '../../src/model/event-schemas.ts'
import type { PullFacts, World } from '../../src/plan/world.ts'

/** What winnow would write on GitHub in this world. */
export function differencesOf(
  seen: World,
  {
    obstacle = null,
    written = new Map(),
  }: { obstacle?: SyncObstacle | null; written?: Map<string, string> } = {},
): PullDifference[] {
  const world = { ...seen, hasPublicPulls: true }
  return comparePulls(renderDesiredPulls({ world, obstacle, page: null }), written)
}

export function changesOf(seen: World, rest: Parameters<typeof differencesOf>[1] = {}): ForgeChange[] {
  return differencesOf(seen, rest).flatMap(({ changes }) => changes)
}

/** The pull request as it is once these changes to it were made. */
export function withChanges<T extends PullFacts>(pull: T, changes: readonly ForgeChange[]): T {
  let now = pull
  for (const change of changes) {
    if (change.kind === 'open' || change.number !== pull.number) continue
    if (change.kind === 'update') {
      const { kind: _, number: __, ...edit } = change
      now = { ...now, ...edit }
    }
    if (change.kind === 'comment')
      now = { ...now, ownComments: [...othersOf(now, change), commentOf(change)] }
    if (change.kind === 'close') now = { ...now, state: 'closed' }
  }
  return now
}

function othersOf({ ownComments = [] }: PullFacts, change: Extract<ForgeChange, { kind: 'comment' }>) {
  return ownComments.filter(({ key }) => key !== commentOf(change).key)
}

function commentOf({ body, marker }: Extract<ForgeChange, { kind: 'comment' }>) {
  return { key: computeMarkerKey(marker), body }
}
