import { experimentsOf } from '../model/experiments.ts'
import { failuresLeft } from '../model/fold-proposer.ts'
import type { Action, Step } from './action.ts'
import { alertOnce } from './alerts.ts'
import { roomToOpen } from './intake.ts'
import { askElsewhere } from './asked-elsewhere.ts'
import { roundSize } from './rounds.ts'
import { isAskingResting } from './fruitless-runs.ts'
import { isKeptOut } from './strangers.ts'
import type { World } from './world.ts'

interface Asked {
  steps: Step[]
  actions: Action[]
}

/** Whom this process asks is an action of it; whom a job of its own is to ask, stands in the ledger first. */
export function askFor(world: World): Asked {
  const rests = world.asks === 'elsewhere' && isAskingResting(world)
  const who = world.asks === 'later' || rests ? [] : whoIsNext(world)
  if (who.length === 0) return { steps: [], actions: [] }
  return world.asks === 'here'
    ? { steps: [], actions: [{ do: 'propose', who }] }
    : { steps: askElsewhere(world, who), actions: [] }
}

/** As many ideas at once as the next round has room for: proposers take turns. */
function whoIsNext(world: World): string[] {
  const { asking, spec, only } = world
  if (only !== null) return []
  const open = roomToOpen(world)
  const room = Math.min(roundSize(spec) - queuedIn(world), open) - asking.length
  const who: string[] = []
  while (who.length < room) {
    const next = nextOf(world, [...asking, ...who])
    if (next === undefined) break
    who.push(next)
  }
  return who
}

/** Whoever is being asked least, and of those whoever was asked longest ago. */
function nextOf({ campaign, askable }: World, asked: readonly string[]): string | undefined {
  const times = (who: string) => asked.filter(each => each === who).length
  const last = (who: string) => campaign.proposers[who]?.asked ?? -1
  const fresh = { failures: 0, since_kept: null }
  const proposer = (who: string) => campaign.proposers[who] ?? fresh
  // Who has failed is asked no oftener at once than it could fail before it is benched.
  const may = askable.filter(who => proposer(who).failures === 0 || times(who) < failuresLeft(proposer(who)))
  return may.toSorted((a, b) => times(a) - times(b) || last(a) - last(b))[0]
}

/** What waits for a person's word takes nobody's place. */
function queuedIn(world: Pick<World, 'campaign' | 'strangers'>): number {
  const all = experimentsOf(world.campaign)
  return all.filter(({ id, status }) => status === 'queued' && !isKeptOut(world, id)).length
}

/** A round waits for ideas that are just being opened, which may go first; one that could hold more also for who is asked. */
export function growsYet(world: World, opened: readonly Step[]): boolean {
  return opened.length > 0 || (world.asking.length > 0 && queuedIn(world) < roundSize(world.spec))
}

/** What an answer cost is recorded once, whatever becomes of the idea; the idea with it, where only its job has it. */
export function answered({ answers }: World): Step[] {
  return answers.flatMap(({ key, who, ok, minutes, brought }): Step[] => {
    const nothing = { requests: 0, tokens: 0, usd: 0 }
    const cost = { kind: 'spent', cause: key, what: 'propose', who, ok, minutes, ...nothing } as const
    const idea = brought === undefined ? [] : [{ kind: 'idea-brought', cause: key, key, ...brought } as const]
    return [...idea, cost].map(draft => ({ step: 'event', draft }))
  })
}

/** A proposer that is not asked any more is said once. */
export function benchedAlerts(world: World): Step[] {
  return Object.entries(world.campaign.proposers).flatMap(([who, { benched, failures }]) => {
    if (!benched) return []
    const message = `${who} failed to produce a usable idea ${failures} times in a row and was disabled; winnow resume asks it again`
    return alertOnce(world, { code: 'proposer-benched', about: who, message })
  })
}
