import type { Forge } from '../../forge/port.ts'
import type { Pull } from '../../forge/pull.ts'
import type { Campaign } from '../../model/campaign.ts'
import type { Experiment } from '../../model/experiment.ts'
import { listExperiments } from '../../model/experiments.ts'
import type { World } from '../../plan/world.ts'
import { toShortRef } from '../../model/refs.ts'
import type { CampaignContext } from '../place.ts'

/** So many people are asked about at a look; the others wait for the next. */
const MOST_ASKED = 20

/**
 * Which experiments were brought by people who may not write here. Below the engine's own prefix only people who may
 * can push; a fork is trusted only where its owner offers it: others can push there.
 */
export async function findStrangers(
  { forge, refs }: Pick<CampaignContext, 'refs'> & { forge: Pick<Forge, 'readPermission'> },
  campaign: Campaign,
  pulls: readonly Pull[],
): Promise<World['outsiders']> {
  const found = new Map<string, string | null>()
  if (forge.readPermission === undefined) return found
  const own = toShortRef(refs.experiments)
  const asked = new Set<string>()
  // While a round is open no other experiment has a turn: its author is looked up when the next one begins.
  const later = campaign.status === 'running' && campaign.round?.open === true
  for (const experiment of listWaitingExperiments(campaign)) {
    const { id, branch, pull: number, head, stranger } = experiment
    if (branch === null || branch.startsWith(own)) continue
    const author = pulls.find(pull => pull.number === number)?.author ?? null
    // What the ledger says of this very head is not asked again: who may write since brings another, or allows it.
    if (author === null || !isForkOwner(branch, author) || stranger?.head === head) {
      found.set(id, author)
      continue
    }
    asked.add(author)
    const may = later || asked.size > MOST_ASKED ? null : await forge.readPermission(author)
    if (may !== 'write' && may !== 'admin') found.set(id, may === null ? null : author)
  }
  return found
}

function listWaitingExperiments(campaign: Campaign): Experiment[] {
  return listExperiments(campaign).filter(
    ({ status, owned, allowed_head, head }) => status === 'queued' && !owned && allowed_head !== head,
  )
}

function isForkOwner(branch: string, author: string): boolean {
  const [owner = '', inFork] = branch.split(':', 2)
  return inFork === undefined || owner.toLowerCase() === author.toLowerCase()
}
