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
  for (;;) {
    const { waiting } = await tick(hands)
    const over = options.signal.aborted ? null : await pass(hands, waiting, options)
    if (over) return over
    if (options.signal.aborted) return interrupted(hands)
  }
}

/** The time until another look is worth it; what is waited for when none is. */
async function pass(hands: Hands, waiting: Waiting, { signal, watch }: RunOptions): Promise<Waiting | null> {
  if (waiting.for === 'orders') await measuredOrLater(hands, waiting.orders, signal)
  else if (waiting.for === 'nothing' || !watch) return waiting
  else await hands.place.clock.sleep(LOOK_AGAIN_MS, signal)
  return null
}

/** The last write is finished; nothing new is begun, and what was being measured ends. */
async function interrupted({ runner, memory }: Hands): Promise<Waiting> {
  const orders = Object.keys(memory.loaded?.campaign.orders ?? {})
  await Promise.all(orders.filter(order => runner.holds(order)).map(order => runner.cancel(order)))
  return { for: 'person', what: 'interrupted; run again to go on' }
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
