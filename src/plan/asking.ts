import { listExperiments } from '../model/experiments.ts'
import { countFailuresLeft } from '../model/fold-proposer.ts'
import type { PlanAction, PlanStep } from './action.ts'
import { raiseAlert } from './alerts.ts'
import { countRoomToOpen } from './intake.ts'
import { requestProposalJob } from './asked-elsewhere.ts'
import { getRoundSize } from './rounds.ts'
import { isProposingPaused } from './fruitless-runs.ts'
import { needsPermission } from './strangers.ts'
import type { World } from './world.ts'

interface ProposalPlan {
  steps: PlanStep[]
  actions: PlanAction[]
}

/** Whom this process asks is an action of it; whom a job of its own is to ask, stands in the ledger first. */
export function requestProposals(world: World): ProposalPlan {
  const rests = world.asks === 'elsewhere' && isProposingPaused(world)
  const who = world.asks === 'later' || rests ? [] : selectNextProposers(world)
  if (who.length === 0) return { steps: [], actions: [] }
  return world.asks === 'here'
    ? { steps: [], actions: [{ do: 'propose', who }] }
    : { steps: requestProposalJob(world, who), actions: [] }
}

/** As many ideas at once as the next round has room for: proposers take turns. */
function selectNextProposers(world: World): string[] {
  const { asking, spec, targetBranch: only } = world
  if (only !== null) return []
  const open = countRoomToOpen(world)
  const room = Math.min(getRoundSize(spec) - countQueued(world), open) - asking.length
  const who: string[] = []
  while (who.length < room) {
    const next = selectNextProposer(world, [...asking, ...who])
    if (next === undefined) break
    who.push(next)
  }
  return who
}

/** Whoever is being asked least, and of those whoever was asked longest ago. */
function selectNextProposer({ campaign, askable }: World, asked: readonly string[]): string | undefined {
  const times = (who: string) => asked.filter(each => each === who).length
  const last = (who: string) => campaign.proposers[who]?.asked ?? -1
  const fresh = { failures: 0, since_kept: null }
  const proposer = (who: string) => campaign.proposers[who] ?? fresh
  // Who has failed is asked no oftener at once than it could fail before it is benched.
  const may = askable.filter(
    who => proposer(who).failures === 0 || times(who) < countFailuresLeft(proposer(who)),
  )
  return may.toSorted((a, b) => times(a) - times(b) || last(a) - last(b))[0]
}

/** What waits for a person's word takes nobody's place. */
function countQueued(world: Pick<World, 'campaign' | 'outsiders'>): number {
  const all = listExperiments(world.campaign)
  return all.filter(({ id, status }) => status === 'queued' && !needsPermission(world, id)).length
}

/** A round waits for ideas that are just being opened, which may go first; one that could hold more also for who is asked. */
export function isRoundGrowing(world: World, opened: readonly PlanStep[]): boolean {
  return opened.length > 0 || (world.asking.length > 0 && countQueued(world) < getRoundSize(world.spec))
}

/** What an answer cost is recorded once, whatever becomes of the idea; the idea with it, where only its job has it. */
export function buildAnswerSteps({ answers }: World): PlanStep[] {
  return answers.flatMap(({ key, who, ok, minutes, result: brought }): PlanStep[] => {
    const nothing = { requests: 0, tokens: 0, usd: 0 }
    const cost = { kind: 'spent', cause: key, what: 'propose', who, ok, minutes, ...nothing } as const
    const idea = brought === undefined ? [] : [{ kind: 'idea-brought', cause: key, key, ...brought } as const]
    return [...idea, cost].map(draft => ({ step: 'event', draft }))
  })
}

/** A proposer that is not asked any more is said once. */
export function reportDisabledProposers(world: World): PlanStep[] {
  return Object.entries(world.campaign.proposers).flatMap(([who, { benched, failures }]) => {
    if (!benched) return []
    const message = `${who} failed to produce a usable idea ${failures} times in a row and was disabled; winnow resume asks it again`
    return raiseAlert(world, { code: 'proposer-benched', about: who, message })
  })
}
