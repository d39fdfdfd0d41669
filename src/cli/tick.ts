import type { ControllerContext } from '../engine/controller/effects.ts'
import { type ControllerOptions, openController, requireCampaign } from '../engine/controller/run.ts'
import { tickCampaign } from '../engine/controller/tick.ts'
import { NOTHING_HERE, type Runner } from '../engine/jobs/runner.ts'
import { observe } from '../engine/observe/observe.ts'
import type { OrderId } from '../model/ids.ts'
import type { PlanWaiting } from '../plan/action.ts'
import type { RunFacts, World } from '../plan/world.ts'
import { describeWaiting } from '../report/verdict-text.ts'
import { runComments } from './comments.ts'
import { type CommandContext, withCampaign } from './context.ts'
import { selectSentenceOutput } from './dry-run.ts'
import type { Call, Verb } from './verb.ts'

export const tickVerb: Verb = {
  name: 'tick',
  group: 'more',
  summary: 'observe, plan and apply until nothing is left to do now; measures nothing',
  access: 'write',
  arguments: [],
  options: [],
  examples: ['winnow tick', 'winnow tick --dry-run'],
  exits: {},
  run: call =>
    withCampaign(
      call,
      { access: 'write', startedOnly: true, announce: true, repeatable: true },
      async scene => {
        await requireCampaign(scene.place)
        const waiting = await tickWithoutMeasuring(call, scene)
        if (scene.dryRun === null) call.terminal.out(describeWaiting(waiting))
        return 0
      },
    ),
}

/** A tick that moves refs and measures nothing; in a rehearsal it does not even ask a proposer. */
export async function tickWithoutMeasuring(call: Call, scene: CommandContext): Promise<PlanWaiting> {
  const { interrupt } = call
  const hands = await openReadOnlyController(scene, interrupt, buildStaffing(call, scene))
  try {
    for (;;) {
      const { waiting } = await tickCampaign(hands)
      if (!hands.asking.busy || interrupt.aborted) return waiting
      await hands.asking.settled()
    }
  } catch (error) {
    if (!(error instanceof WouldAskError)) throw error
    selectSentenceOutput(call)(`It would ask ${error.who} for one idea; what follows depends on the answer.`)
    return { for: 'ideas' }
  } finally {
    await hands.asking.close()
  }
}

/** The world as a tick would see it, with nothing tidied up. */
export async function observeWorld({ interrupt }: Call, scene: CommandContext): Promise<World | null> {
  return (await observe(await openReadOnlyController(scene, interrupt)))?.world ?? null
}

/** A rehearsal answers nobody. */
function buildStaffing(call: Call, scene: CommandContext): ControllerOptions {
  return scene.dryRun === null ? { runComments: runComments(call, scene) } : {}
}

async function openReadOnlyController(
  { place, dryRun: rehearsal }: CommandContext,
  signal: AbortSignal,
  staffing: ControllerOptions = {},
): Promise<ControllerContext> {
  const hands = await openController(place, signal, staffing)
  if (rehearsal === null) return { ...hands, runner: toReadOnlyRunner(hands.runner) }
  const runner = toReadOnlyRunner(cacheRunnerFacts(hands.runner))
  const begin = (who: string): never => {
    throw new WouldAskError(who)
  }
  return { ...hands, runner, asking: { ...hands.asking, begin } }
}

/** The end of a rehearsal: nobody can know what a proposer would answer. */
class WouldAskError extends Error {
  override readonly name = 'WouldAsk'
  readonly who: string
  constructor(who: string) {
    super(`would ask ${who}`)
    this.who = who
  }
}

/** Reads what others measured and leaves every order to them: nothing of it is dispatched from here. */
function toReadOnlyRunner(runner: Runner): Runner {
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
function cacheRunnerFacts(runner: Runner): Runner {
  let looked: Map<OrderId, RunFacts> | null = null
  return {
    ...runner,
    async facts(campaign) {
      looked ??= await runner.facts(campaign)
      return new Map(looked)
    },
  }
}
