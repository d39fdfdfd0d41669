import { withReason } from '../model/describe-status.ts'
import type { Campaign } from '../model/campaign.ts'
import type { PlanWaiting } from '../plan/action.ts'
import type { ControllerContext } from './apply.ts'
import { describeHolder } from './local-run.ts'
import { acquireMachineLock } from './machine-turn.ts'
import type { Observation } from './observe.ts'
import { registerRun } from './presence.ts'
import { waitForChange } from './stand-by.ts'
import { tickCampaign } from './tick.ts'

export interface RunOptions {
  signal: AbortSignal
  /** Keep looking when ideas or a person are waited for, instead of returning. */
  watch: boolean
  /** Return as soon as this holds, whatever others are still measuring. */
  enough?: (campaign: Campaign) => boolean
}

const LOOK_AGAIN_MS = 2_000
const INTERRUPTED: PlanWaiting = { for: 'person', what: 'interrupted; run again to go on' }

/**
 * `run` is `tick` again and again, with this machine measuring in between, and a look whenever somebody else
 * moved something. However it ends, nothing that it began is left running.
 */
export async function runCampaign(hands: ControllerContext, options: RunOptions): Promise<PlanWaiting> {
  const { signal } = options
  const leave = await registerRun(hands.place)
  try {
    for (let status = 'running', elsewhere: string[] = []; ; ) {
      await packUpRepository(hands, signal)
      const { waiting, seen } = await tickCampaign(hands)
      elsewhere = reportOtherRuns(hands, seen, elsewhere)
      if (seen && options.enough?.(seen.world.campaign)) return waiting
      const over = signal.aborted
        ? INTERRUPTED
        : await waitBetweenTicks(hands, waiting, { ...options, seen, status })
      if (over) return over
      status = seen?.world.campaign.status ?? 'none'
    }
  } catch (error) {
    await waitUntilIdle(hands, error, signal)
    throw error
  } finally {
    await Promise.all([hands.runner.close(), hands.asking.close()])
    leave()
  }
}

/** Years of events and trees are many small files; packing them must not disturb what is timed, here or next door. */
async function packUpRepository(
  { place, runner, asking }: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (runner.busy || asking.busy || !(await place.repository.isScattered())) return
  const leave = await acquireMachineLock(
    place,
    { alone: false, what: `packing the objects of ${place.name}` },
    signal,
  )
  if (leave === null) return
  try {
    await place.repository.packUp()
  } finally {
    leave()
  }
}

/** What is under way does not depend on what went wrong: its report or answer is there for the next run. */
async function waitUntilIdle(
  { runner, asking, place }: ControllerContext,
  error: unknown,
  signal: AbortSignal,
) {
  if (signal.aborted || !(runner.busy || asking.busy)) return
  const what = error instanceof Error ? error.message : String(error)
  place.progress.say(`${what}; what is under way ends first`)
  const interrupted = new Promise(resolve => signal.addEventListener('abort', resolve, { once: true }))
  await Promise.race([Promise.all([runner.finished(), asking.finished()]), interrupted])
}

interface RunStanding extends RunOptions {
  seen: Observation | null
  /** Of the campaign at the last look. */
  status: string
}

/** The time until another look is worth it; what is waited for when none is. */
async function waitBetweenTicks(
  hands: ControllerContext,
  waiting: PlanWaiting,
  standing: RunStanding,
): Promise<PlanWaiting | null> {
  const { signal, watch } = standing
  if (waiting.for === 'orders' || waiting.for === 'proposers') {
    reportPaused(hands, standing)
    await waitForChange(hands, signal)
  } else if (waiting.for === 'nothing' || !watch) return waiting
  else await hands.place.clock.sleep(LOOK_AGAIN_MS, signal)
  return signal.aborted ? INTERRUPTED : null
}

/** A person who pauses a run from elsewhere sees here that it was heard, long before it ends. */
function reportPaused({ place }: ControllerContext, { seen, status }: RunStanding): void {
  const campaign = seen?.world.campaign
  if (campaign?.status !== 'paused' || status === 'paused') return
  place.progress.say(`${withReason('paused', campaign.status_reason ?? '')}; what is being measured ends`)
}

/** Who started a second run sees whom it waits for, once each; what to say of them again is the answer. */
function reportOtherRuns(
  { place, runner }: ControllerContext,
  seen: Observation | null,
  known: readonly string[],
): string[] {
  const live = Object.values(seen?.world.campaign.orders ?? {}).filter(({ report }) => report === null)
  const holders = new Set(live.flatMap(({ run_id }) => (run_id === null ? [] : [run_id])))
  const others = [...holders].filter(holder => holder !== runner.runId)
  for (const holder of others.filter(each => !known.includes(each))) {
    place.progress.say(
      `${describeHolder(holder)} is measuring campaign ${place.name} already: this run waits for it, and goes on when it ends`,
    )
  }
  return others
}
