import type { Waiting } from '../plan/action.ts'
import type { Hands } from './apply.ts'
import { tick } from './tick.ts'

export interface RunOptions {
  signal: AbortSignal
  /** Keep looking when ideas or a person are waited for, instead of returning. */
  watch: boolean
}

const LOOK_AGAIN_MS = 2_000

/** `run` is `tick` again and again, with this machine measuring in between. */
export async function run(hands: Hands, options: RunOptions): Promise<Waiting> {
  while (!options.signal.aborted) {
    const { waiting } = await tick(hands)
    if (options.signal.aborted) return interrupted(hands, waiting)
    if (waiting.for === 'orders') await measuredOrLater(hands, waiting.orders, options.signal)
    else if (waiting.for === 'nothing' || !options.watch) return waiting
    else await hands.place.clock.sleep(LOOK_AGAIN_MS, options.signal)
  }
  return INTERRUPTED
}

const INTERRUPTED: Waiting = { for: 'person', what: 'interrupted; run again to go on' }

/** What the last tick still dispatched ends too: nothing is left running behind a campaign that was let go. */
async function interrupted({ runner }: Hands, waiting: Waiting): Promise<Waiting> {
  if (waiting.for === 'orders') await Promise.all(waiting.orders.map(order => runner.cancel(order)))
  return INTERRUPTED
}

/** Orders of this process end by themselves; those of another machine are looked at again after a while. */
async function measuredOrLater(
  { runner, place }: Hands,
  orders: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const here = orders.filter(order => runner.holds(order))
  if (here.length === 0) return place.clock.sleep(LOOK_AGAIN_MS, signal)
  const stop = () => {
    for (const order of here) void runner.cancel(order)
  }
  signal.addEventListener('abort', stop, { once: true })
  try {
    await runner.settled()
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
