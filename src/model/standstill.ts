import type { Campaign } from './campaign.ts'
import { hashSha256 } from './canonical.ts'
import type { Experiment } from './experiment.ts'
import type { Oid } from './ids.ts'
import type { SyncObstacle } from './sync-awaited.ts'

/** The experiment gets no turn and no verdict before a paused or stopped campaign goes on. */
export function isPausedExperiment(
  { status }: Pick<Campaign, 'status'>,
  experiment: Pick<Experiment, 'status'>,
): boolean {
  const rests = status === 'paused' || status === 'stopped'
  return rests && (experiment.status === 'queued' || experiment.status === 'measured')
}

/** A pull request that is no experiment before the campaign goes on. */
export interface UnopenedPull {
  number: number
  head: Oid
  /** What keeps a campaign that is running from opening it. */
  obstacle: SyncObstacle | null
}

/** What such a pull request was told holds this, so that it is told once, and of what has changed since. */
export function buildPausedMark(
  { status, status_reason }: Pick<Campaign, 'status' | 'status_reason'>,
  { head, obstacle }: UnopenedPull,
): string {
  return `<!-- winnow greeting ${hashSha256(JSON.stringify([head, status, status_reason, obstacle])).slice(0, 24)} -->`
}
