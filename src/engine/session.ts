import { type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Pull } from '../forge/pull.ts'
import type { CommandProposer } from '../propose/presets.ts'
import { specOf } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import type { Oid } from '../model/ids.ts'
import type { Hands } from './apply.ts'
import { askingHere } from './asking.ts'
import { campaignIdeas } from './campaign-ideas.ts'
import { Lanes } from './lanes.ts'
import { localRunner } from './local-runner.ts'
import { emptyMemory } from './memory.ts'
import type { Place } from './place.ts'
import { requireLedger } from './recover.ts'

export interface Staffing {
  /** The branch of the one idea that this process measures. */
  only?: string
  /** Asked besides the proposers of the spec, by this process alone. */
  guests?: readonly CommandProposer[]
  heed?: Hands['heed']
}

/** Everything `tick` and `run` need on one machine. */
export async function openHands(place: Place, signal: AbortSignal, staffing: Staffing = {}): Promise<Hands> {
  const lanes = new Lanes()
  const ideas = campaignIdeas(place, staffing.guests)
  return {
    place,
    memory: emptyMemory(),
    runner: await localRunner(place, lanes),
    ideas,
    asking: askingHere(place, ideas, lanes, signal),
    only: staffing.only ?? null,
    ...(staffing.heed ? { heed: staffing.heed } : {}),
  }
}

export interface CampaignView {
  loaded: LoadedCampaign
  spec: Spec
  pulls: Pull[]
}

async function ledgerRefs({ repository, refs }: Place): Promise<ReadonlyMap<string, Oid>> {
  return (await repository.remoteRefs([refs.state])).refs
}

async function viewAt(place: Place, tip: Oid): Promise<CampaignView> {
  const { repository, refs } = place
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const loaded = await loadCampaign(repository, tip)
  const spec = specOf(loaded.campaign)
  return { loaded, spec, pulls: await place.forge.list() }
}

export async function requireCampaign(place: Place): Promise<CampaignView> {
  return viewAt(place, await requireLedger(place, await ledgerRefs(place)))
}
