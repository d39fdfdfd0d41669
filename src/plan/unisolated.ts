import type { Experiment } from '../model/experiment.ts'
import type { RoundMember } from './member.ts'
import type { World } from './world.ts'

/** Why what was measured may not land, though its numbers are good; null where it may. */
export function explainUnisolated({ spec }: Pick<World, 'spec'>, member: RoundMember): string | null {
  const { experiment, measured } = member
  const { unisolated } = spec.merge
  if (measured === null || unisolated === 'allow' || experiment.purpose === 'revert') return null
  if (!measured.report.flags.includes('unisolated')) return null
  if (unisolated === 'deny') return 'it was measured without isolation, which merge.unisolated denies'
  const author = findUnallowedAuthor(experiment)
  return author && `it was measured without isolation, and ${author} has no write access (merge.unisolated)`
}

/** Who brought what was measured, if they had no right to and somebody who has allowed it. */
function findUnallowedAuthor({
  head,
  stranger,
  allowed_head: allowed,
}: RoundMember['experiment']): string | null {
  return stranger?.head === head && allowed === head ? stranger.author : null
}

/**
 * Why code of people without write access is not measured at all: it could not land, and machine time would be wasted. Null
 * where it may be measured, and where the campaign has not found out yet; its baseline tells.
 */
export function explainDeniedOutsiders({
  campaign,
  spec,
  outsidersDenied,
}: Pick<World, 'campaign' | 'spec' | 'outsidersDenied'>): string | null {
  if (outsidersDenied !== undefined) return outsidersDenied
  if (spec.merge.unisolated === 'allow') return null
  const { isolation } = spec.measurement
  if (isolation === 'uid') return null
  if (isolation !== 'none' && campaign.isolated[campaign.harness] !== false) return null
  const why = isolation === 'none' ? ' (measurement.isolation: none)' : ''
  return `this campaign measures without isolation${why}, so it measures no code of people without write access (${DENYING_KEY})`
}

const DENYING_KEY = 'merge.unisolated'

/** Whether another commit of its author would be refused as well. */
export function isDeniedOutsider({ outcome, reason }: Pick<Experiment, 'outcome' | 'reason'>): boolean {
  return outcome === 'refused' && reason?.includes(`(${DENYING_KEY})`) === true
}
