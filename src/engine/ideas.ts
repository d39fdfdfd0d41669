import type { Pull } from '../forge/pull.ts'
import type { Campaign } from '../model/campaign.ts'
import type { EventId, Oid, Point } from '../model/ids.ts'
import type { AnswerFacts, Proposal, RevertFacts, World } from '../plan/world.ts'
import type { Spec } from '../spec/schema.ts'

/** Where ideas come from, as the engine sees it: found on every look, asked for when the plan says so. */
export interface IdeaSource {
  find(scene: IdeaContext): Promise<FoundIdeas>
  /** Proposers that could be asked for one more idea now, by name. */
  listProposers(campaign: Campaign, spec: Spec): string[]
  /** Runs one proposer; its answer is kept with what it cost, and found at the next look. */
  ask(who: string, scene: ProposerContext): Promise<{ ok: boolean; reason: string }>
}

export interface FoundIdeas {
  proposals: Proposal[]
  /** Patches that are there and were not prepared. */
  unopened: number
  /** What proposers answered, in words or with an idea, as far as the ledger lacks what it cost. */
  answers: AnswerFacts[]
  /** Askings of the ledger that nobody will answer any more. */
  unanswered: World['unanswered']
}

export interface ProposerContext {
  campaign: Campaign
  spec: Spec
  /** Nobody else who is asked by this process has it. */
  lane: number
  signal: AbortSignal
}

export interface IdeaContext {
  campaign: Campaign
  spec: Spec
  defaultTip: Point
  branches: ReadonlyMap<string, Oid>
  pulls: readonly Pull[]
  reverts: ReadonlyMap<EventId, RevertFacts>
  targetBranch: string | null
}
