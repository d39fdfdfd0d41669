import type { LiveOrder } from '../model/campaign.ts'
import { NO_MACHINE } from '../model/no-machine.ts'
import { raiseAlert } from './alerts.ts'
import type { PlanStep } from './action.ts'
import type { World } from './world.ts'

/** How long a run elsewhere may wait for a machine: there nobody waits for this one, and nothing runs twice. */
export const QUEUED_ELSEWHERE_SECONDS = 24 * 3600

const ACTIONS_RUN_ID = /^actions:(\d+)\//

/** Says once for each run that its job cannot be measuring alone: everything could have run into its timeout by now. */
export function reportWaitingRun(
  world: World,
  { order, run_id, issued_at }: LiveOrder,
  planned: readonly PlanStep[],
): PlanStep[] {
  const elsewhere = world.runner.runId === null
  const measured = Date.parse(order.deadline) - 1000 * QUEUED_ELSEWHERE_SECONDS
  const run = ACTIONS_RUN_ID.exec(run_id ?? '')?.[1]
  if (!elsewhere || run_id === null || run === undefined || Date.parse(world.now) < measured) return []
  const isPlanned = planned.some(
    step => step.step === 'event' && step.draft.kind === 'alert' && step.draft.about === run_id,
  )
  if (isPlanned) return []
  const message =
    `workflow run ${run} has brought no report since ${issued_at}: its job probably waits for a machine. ` +
    'Look at the run: a runner with the labels that it asks for has to be online. ' +
    `Nothing is lost: after ${order.deadline} it is measured in another run`
  return raiseAlert(world, { code: NO_MACHINE, about: run_id, message })
}
