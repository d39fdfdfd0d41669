import type { Pull } from '../forge/pull.ts'
import type { Campaign } from '../model/campaign.ts'
import type { EventId, Oid, Point } from '../model/ids.ts'
import type { Proposal, RevertFacts } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'

/** Where ideas come from, as the engine sees it: found on every look, asked for when the plan says so. */
export interface Ideas {
  find(scene: IdeaScene): Promise<Proposal[]>
  /** Proposers that could be asked for one more idea now, by name. */
  askable(campaign: Campaign, spec: Spec): string[]
  /** Runs one proposer; its answer is found at the next look, its cost and success are the result. */
  ask(
    who: string,
    scene: { campaign: Campaign; spec: Spec },
  ): Promise<{ ok: boolean; minutes: number; reason: string }>
}

export interface IdeaScene {
  campaign: Campaign
  spec: Spec
  defaultTip: Point
  branches: ReadonlyMap<string, Oid>
  pulls: readonly Pull[]
  reverts: ReadonlyMap<EventId, RevertFacts>
}
