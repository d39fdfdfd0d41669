import { ConflictError, UserError } from '../errors.ts'
import { loadCampaign } from '../ledger/load.ts'
import type { Oid } from '../model/ids.ts'
import { toShortRef } from '../model/refs.ts'
import type { CampaignContext } from './place.ts'

/** A campaign put aside: where its refs go, and where the next campaign's numbers begin. */
export interface ArchivePlan {
  at: string
  moves: { ref: string; to: Oid | null }[]
}

/** The optimize branch stays where it is until the next campaign re-points it: it is never deleted. */
export function planArchive(place: CampaignContext, refs: ReadonlyMap<string, Oid>): ArchivePlan {
  const at = new Date(place.clock.now()).toISOString().replace(/[:.]/g, '-')
  const moves: ArchivePlan['moves'] = []
  for (const role of ['optimize', 'state', 'closed'] as const) {
    const oid = refs.get(place.refs[role])
    if (oid === undefined) continue
    moves.push({ ref: `${place.refs.archive}${at}/${role}`, to: oid })
    if (role !== 'optimize') moves.push({ ref: place.refs[role], to: null })
  }
  if (refs.has(place.refs.campaign)) moves.push({ ref: place.refs.campaign, to: null })
  return { at, moves }
}

/** One push: all of the campaign is put aside, or nothing. */
export async function archiveCampaign(
  place: CampaignContext,
  refs: ReadonlyMap<string, Oid>,
): Promise<string> {
  if (!refs.has(place.refs.state)) throw new UserError(`there is no campaign ${place.name} to archive`)
  const { at, moves } = planArchive(place, refs)
  // Whoever closed the campaign may have been another machine.
  const kept = new Set(moves.flatMap(({ to }) => to ?? []))
  await place.repository.fetch([...refs].flatMap(([ref, oid]) => (kept.has(oid) ? [{ ref, oid }] : [])))
  const updates = moves.map(({ ref, to }) => ({ ref, from: refs.get(ref) ?? null, to }))
  const result = await place.repository.push(updates)
  if (result.ok) return at
  if (result.reason === 'lease')
    throw new ConflictError('the campaign moved while it was archived', result.refs)
  const what =
    result.reason === 'checked-out'
      ? `${toShortRef(result.ref)} is checked out in ${result.worktree}`
      : result.message
  throw new UserError(`the campaign could not be archived: ${what}`)
}

export interface ArchivedCampaigns {
  /** Numbers continue above every archive, so that one name never means two experiments. */
  firstNumber: number
  /** Where earlier campaigns left the optimize branch. */
  optimizeTips: Set<Oid>
}

export async function readArchives(
  place: CampaignContext,
  current: Oid | undefined,
): Promise<ArchivedCampaigns> {
  const { refs } = await place.repository.remoteRefs([`${place.refs.archive}*`])
  const states = [...refs].filter(([ref]) => ref.endsWith('/state'))
  if (current !== undefined) states.push([place.refs.state, current])
  let firstNumber = 1
  for (const [ref, oid] of states) {
    await place.repository.fetch([{ ref, oid }])
    firstNumber = Math.max(firstNumber, (await loadCampaign(place.repository, oid)).campaign.next_number)
  }
  const optimizeTips = new Set([...refs].flatMap(([ref, oid]) => (ref.endsWith('/optimize') ? [oid] : [])))
  return { firstNumber, optimizeTips }
}
