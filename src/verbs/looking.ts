import type { Hands } from '../engine/apply.ts'
import { observe } from '../engine/observe.ts'
import { NOTHING_HERE, type Runner } from '../engine/runner.ts'
import { openHands, type Staffing } from '../engine/session.ts'
import { tick } from '../engine/tick.ts'
import type { OrderId } from '../model/ids.ts'
import type { Waiting } from '../plan/action.ts'
import type { RunFacts, World } from '../plan/world.ts'
import type { Scene } from './at-campaign.ts'
import type { Call } from './call.ts'
import { heedComments } from './comments/heed.ts'
import { besideJson } from './dry-run.ts'

/** A tick that moves refs and measures nothing; in a rehearsal it does not even ask a proposer. */
export async function lookingTick(call: Call, scene: Scene): Promise<Waiting> {
  const { interrupt } = call
  const hands = await lookingHands(scene, interrupt, heeding(call, scene))
  try {
    for (;;) {
      const { waiting } = await tick(hands)
      if (!hands.asking.busy || interrupt.aborted) return waiting
      await hands.asking.settled()
    }
  } catch (error) {
    if (!(error instanceof WouldAsk)) throw error
    besideJson(call)(`It would ask ${error.who} for one idea; what follows depends on the answer.`)
    return { for: 'ideas' }
  } finally {
    await hands.asking.close()
  }
}

/** The world as a tick would see it, with nothing tidied up. */
export async function lookAround({ interrupt }: Call, scene: Scene): Promise<World | null> {
  return (await observe(await lookingHands(scene, interrupt)))?.world ?? null
}

/** A rehearsal answers nobody. */
function heeding(call: Call, scene: Scene): Staffing {
  return scene.rehearsal === null ? { heed: heedComments(call, scene) } : {}
}

async function lookingHands(
  { place, rehearsal }: Scene,
  signal: AbortSignal,
  staffing: Staffing = {},
): Promise<Hands> {
  const hands = await openHands(place, signal, staffing)
  if (rehearsal === null) return { ...hands, runner: lookingRunner(hands.runner) }
  const runner = lookingRunner(onceLooked(hands.runner))
  const begin = (who: string): never => {
    throw new WouldAsk(who)
  }
  return { ...hands, runner, asking: { ...hands.asking, begin } }
}

/** The end of a rehearsal: nobody can know what a proposer would answer. */
class WouldAsk extends Error {
  override readonly name = 'WouldAsk'
  readonly who: string
  constructor(who: string) {
    super(`would ask ${who}`)
    this.who = who
  }
}

/** Reads what others measured and leaves every order to them: nothing of it is dispatched from here. */
function lookingRunner(runner: Runner): Runner {
  return {
    ...runner,
    async facts(campaign) {
      const found = await runner.facts(campaign)
      for (const { order, report } of Object.values(campaign.orders)) {
        const fact = found.get(order.id)
        const idle = fact === undefined || (fact.state === 'gone' && !fact.started)
        if (report === null && idle) found.set(order.id, { state: 'running' })
      }
      return found
    },
    tidy: async () => {},
    dispatch: async () => {},
    cancel: async () => {},
    ...NOTHING_HERE,
  }
}

/** A runner drops the files of orders it takes for answered; in a rehearsal they are answered only in thought. */
function onceLooked(runner: Runner): Runner {
  let looked: Map<OrderId, RunFacts> | null = null
  return {
    ...runner,
    async facts(campaign) {
      looked ??= await runner.facts(campaign)
      return new Map(looked)
    },
  }
}
