import type { Member } from './member.ts'
import type { World } from './world.ts'

/** Why what was measured may not land, though its numbers are good; null where it may. */
export function unisolatedText({ spec }: Pick<World, 'spec'>, member: Member): string | null {
  const { experiment, measured } = member
  const { unisolated } = spec.merge
  if (measured === null || unisolated === 'allow' || experiment.purpose === 'revert') return null
  if (!measured.report.flags.includes('unisolated')) return null
  if (unisolated === 'deny') return 'it was measured without isolation, which merge.unisolated denies'
  const author = strangerOf(experiment)
  return author && `it was measured without isolation, and ${author} may not write here (merge.unisolated)`
}

/** Who brought what was measured, if they had no right to and somebody who has allowed it. */
function strangerOf({ head, stranger, allowed_head: allowed }: Member['experiment']): string | null {
  return stranger?.head === head && allowed === head ? stranger.author : null
}
