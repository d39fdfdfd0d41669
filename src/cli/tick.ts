import type { ControllerContext } from '../engine/observe/observe.ts'
import { type ControllerOptions, openController, requireCampaign } from '../engine/controller/run.ts'
import { tickCampaign } from '../engine/controller/tick.ts'
import type { Runner } from '../engine/jobs/runner.ts'
import { observe } from '../engine/observe/observe.ts'
import type { PlanWaiting } from '../plan/action.ts'
import type { JobFacts, World } from '../plan/world.ts'
import { describeWaiting } from '../report/verdict-text.ts'
import { runComments } from './comments.ts'
import { withCampaign } from './context.ts'
import { selectSentenceOutput } from './dry-run.ts'
import type { Call, CommandContext, Verb } from './verb.ts'

export const tickVerb: Verb = {
  name: 'tick',
  group: 'more',
  summary: 'observe, plan and apply until nothing is due; measures nothing',
  access: 'write',
  examples: ['winnow tick', 'winnow tick --dry-run'],
  run: call =>
    withCampaign(
      call,
      { access: 'write', startedOnly: true, announce: true, repeatable: true },
      async context => {
        await requireCampaign(context.campaignContext)
        const waiting = await tickWithoutMeasuring(call, context)
        if (context.dryRun === null) call.terminal.out(describeWaiting(waiting))
        return 0
      },
    ),
}

/** Ticks without measuring. A dry run does not start a proposer either. */
export async function tickWithoutMeasuring(call: Call, context: CommandContext): Promise<PlanWaiting> {
  const { interrupt } = call
  const controller = await openReadOnlyController(context, interrupt, buildControllerOptions(call, context))
  try {
    for (;;) {
      const { waiting } = await tickCampaign(controller)
      if (!controller.runner.busy || interrupt.aborted) return waiting
      await controller.runner.settled()
    }
  } catch (error) {
    if (!(error instanceof WouldAskError)) throw error
    selectSentenceOutput(call)(`It would ask ${error.who} for one idea; the next steps depend on the answer.`)
    return { for: 'ideas' }
  } finally {
    await controller.runner.close()
  }
}

export async function observeWorld({ interrupt }: Call, context: CommandContext): Promise<World | null> {
  return (await observe(await openReadOnlyController(context, interrupt)))?.world ?? null
}

function buildControllerOptions(call: Call, context: CommandContext): ControllerOptions {
  return context.dryRun === null ? { runComments: runComments(call, context) } : {}
}

async function openReadOnlyController(
  { campaignContext, dryRun }: CommandContext,
  signal: AbortSignal,
  options: ControllerOptions = {},
): Promise<ControllerContext> {
  const controller = await openController(campaignContext, signal, options)
  if (dryRun === null) return { ...controller, runner: toReadOnlyRunner(controller.runner) }
  const runner = toReadOnlyRunner(cacheRunnerFacts(controller.runner))
  const propose = (proposer: string): never => {
    throw new WouldAskError(proposer)
  }
  return { ...controller, runner: { ...runner, propose } }
}

/** Ends a dry run: the plan depends on the proposer's answer. */
class WouldAskError extends Error {
  override readonly name = 'WouldAsk'
  readonly who: string
  constructor(proposer: string) {
    super(`would ask ${proposer}`)
    this.who = proposer
  }
}

/** Dispatches nothing. Idle orders count as running, so that the plan leaves them alone. */
function toReadOnlyRunner(runner: Runner): Runner {
  return {
    ...runner,
    async facts(campaign) {
      const facts = await runner.facts(campaign)
      const found = new Map(facts.runs)
      for (const { order, report } of Object.values(campaign.orders)) {
        const fact = found.get(order.id)
        const idle = fact === undefined || (fact.state === 'gone' && !fact.started)
        if (report === null && idle) found.set(order.id, { state: 'running' })
      }
      return { ...facts, runs: found }
    },
    tidy: async () => {},
    dispatch: async () => {},
    cancel: async () => {},
    runId: null,
    machine: null,
    holds: () => false,
    doing: () => null,
    // Spreading a getter would copy its value.
    get busy() {
      return runner.busy
    },
    get proposing() {
      return runner.proposing
    },
  }
}

/** Keeps the first facts: a real runner deletes the files of orders that a dry run only seems to record. */
function cacheRunnerFacts(runner: Runner): Runner {
  let cached: JobFacts | null = null
  return {
    ...runner,
    async facts(campaign) {
      cached ??= await runner.facts(campaign)
      return cached
    },
  }
}
