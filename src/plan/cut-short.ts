import type { LiveOrder } from '../model/campaign.ts'
import { isPairRule } from '../model/order.ts'
import { buildLossStep } from './arrivals.ts'
import type { World } from './world.ts'

type LossStep = ReturnType<typeof buildLossStep>

/**
 * A run that is ended on purpose (a stop, a new head with the same files) is lost like any other: whoever sees that it is
 * behind must not have its pairs drawn again (decision 039). Nothing where no pair can have begun.
 */
export function interruptRun(world: World, live: LiveOrder, reason: string): LossStep[] {
  const { order, run_id } = live
  if (!isPairRule(order.stop) || live.report !== null) return []
  const run = world.runs.get(order.id)
  if (run === undefined) return run_id === null ? [] : [buildLossStep(world, order, { reason })]
  if (run.state !== 'running' || run.queued === true) return []
  const { partial } = run
  // On this machine a run that has begun has left what it measured.
  const begun = partial !== undefined || world.runner.runId === null
  return begun ? [buildLossStep(world, order, { reason, partial })] : []
}
