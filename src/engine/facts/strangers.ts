import type { Permission } from '../../forge/port.ts'
import type { Pull } from '../../forge/pull.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Experiment } from '../../model/experiment.ts'
import type { World } from '../../plan/world.ts'
import { shortRef } from '../../model/refs.ts'
import type { Place } from '../place.ts'

/** So many people are asked about in one tick; the others wait for the next. */
const MOST_ASKED = 20

/**
 * Which experiments were brought by people who may not write here. Below the engine's own prefix only people who may
 * can push; a fork is trusted only where its owner offers it: others can push there.
 */
export async function strangersOf(
  { forge, refs }: Pick<Place, 'forge' | 'refs'>,
  { permissions }: { permissions: Map<string, Permission> },
  campaign: Campaign,
  pulls: readonly Pull[],
): Promise<World['strangers']> {
  const found = new Map<string, string | null>()
  if (forge.permissionOf === undefined) return found
  const own = shortRef(refs.experiments)
  for (const experiment of newcomersFirst(campaign)) {
    const { id, branch, pull: number } = experiment
    if (branch === null || branch.startsWith(own)) continue
    const author = pulls.find(pull => pull.number === number)?.author ?? null
    if (author === null || !ownsFork(branch, author)) found.set(id, author)
    else if (!permissions.has(author) && permissions.size >= MOST_ASKED) found.set(id, null)
    else {
      const may = permissions.get(author) ?? (await forge.permissionOf(author))
      permissions.set(author, may)
      if (may !== 'write' && may !== 'admin') found.set(id, author)
    }
  }
  return found
}

/** Who is known to wait already is asked about last: however many wait, newcomers have their turn. */
function newcomersFirst({ experiments }: Campaign): Experiment[] {
  const queued = Object.values(experiments).filter(
    ({ status, owned, allowed_head, head }) => status === 'queued' && !owned && allowed_head !== head,
  )
  const isKnown = ({ stranger, head }: Experiment) => stranger !== null && stranger.head === head
  return [...queued.filter(each => !isKnown(each)), ...queued.filter(isKnown)]
}

function ownsFork(branch: string, author: string): boolean {
  const [owner = '', inFork] = branch.split(':', 2)
  return inFork === undefined || owner.toLowerCase() === author.toLowerCase()
}
