import { type LoadedCampaign, loadCampaign } from '../ledger/load.ts'
import type { Pull } from '../forge/pull.ts'
import type { CommandProposer } from '../propose/presets.ts'
import { getCampaignSpec } from '../spec/recorded-spec.ts'
import type { Spec } from '../spec/schema.ts'
import type { Oid } from '../model/ids.ts'
import type { ControllerContext } from './apply.ts'
import { createLocalProposerTasks } from './asking.ts'
import { createCampaignIdeas } from './campaign-ideas.ts'
import { WorkerSlots } from './lanes.ts'
import { createLocalRunner } from './local-runner.ts'
import { createMemory } from './memory.ts'
import type { CampaignContext } from './place.ts'
import { requireLedger } from './recover.ts'

export interface ControllerOptions {
  /** The branch of the one idea that this process measures. */
  targetBranch?: string
  /** Asked besides the proposers of the spec, by this process alone. */
  guests?: readonly CommandProposer[]
  runComments?: ControllerContext['runComments']
}

/** Everything `tick` and `run` need on one machine. */
export async function openController(
  place: CampaignContext,
  signal: AbortSignal,
  staffing: ControllerOptions = {},
): Promise<ControllerContext> {
  const lanes = new WorkerSlots()
  const ideas = createCampaignIdeas(place, staffing.guests)
  return {
    place,
    memory: createMemory(),
    runner: await createLocalRunner(place, lanes),
    ideas,
    asking: createLocalProposerTasks(place, ideas, lanes, signal),
    targetBranch: staffing.targetBranch ?? null,
    ...(staffing.runComments ? { runComments: staffing.runComments } : {}),
  }
}

export interface CampaignView {
  loaded: LoadedCampaign
  spec: Spec
  pulls: Pull[]
}

async function readLedgerRefs({ repository, refs }: CampaignContext): Promise<ReadonlyMap<string, Oid>> {
  return (await repository.remoteRefs([refs.state])).refs
}

async function readCampaignView(place: CampaignContext, tip: Oid): Promise<CampaignView> {
  const { repository, refs } = place
  await repository.fetch([{ ref: refs.state, oid: tip }])
  const loaded = await loadCampaign(repository, tip)
  const spec = getCampaignSpec(loaded.campaign)
  return { loaded, spec, pulls: await place.forge.list() }
}

export async function requireCampaign(place: CampaignContext): Promise<CampaignView> {
  return readCampaignView(place, await requireLedger(place, await readLedgerRefs(place)))
}
