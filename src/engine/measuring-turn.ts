import type { Report } from '../model/report.ts'
import type { Order } from '../model/order.ts'
import type { Spec } from '../spec/schema.ts'
import { chooseSlotRequest } from './lanes.ts'
import { isTimedElsewhere, type MachineContext, acquireMachineLock } from './machine-turn.ts'

/** How an order is measured on this machine. */
export interface MachineLockState {
  /** Another process may time something meanwhile: everything is started at low priority. */
  beside: boolean
  /** For the machine lock. That is no cost and uses up no limit. */
  waitedSeconds: number
}

interface MachineLockOrder {
  order: Pick<Order, 'stop'>
  spec: Spec
  /** Shown to processes that wait for it. */
  what: string
}

const LOOK_EVERY_MS = 1_000

/**
 * Measures what is timed while no other process of this user times anything here. What is deterministic waits for no
 * lock: it runs at low priority, and where it hit a time limit while another process timed something, it is measured
 * again with the lock, because the limit may say more about its priority than about its code. Null where the signal came
 * first.
 */
export async function measureWithLock<T extends { report: Report }>(
  machine: MachineContext,
  wanted: MachineLockOrder,
  signal: AbortSignal,
  measure: (turn: MachineLockState) => Promise<T>,
): Promise<T | null> {
  if (chooseSlotRequest(wanted.order, wanted.spec).alone) return withLock(machine, wanted, signal, measure)
  const over = new AbortController()
  const watching = watchTimed(machine, AbortSignal.any([over.signal, signal]))
  let measured: T
  let wasBeside: boolean
  try {
    measured = await measure({ beside: true, waitedSeconds: 0 })
  } finally {
    over.abort()
    wasBeside = await watching
  }
  if (!wasBeside || !hasTimedOut(measured.report)) return measured
  machine.progress.say(
    `${wanted.what}: a time limit was hit while another process timed something here, so this is measured again alone`,
  )
  return withLock(machine, wanted, signal, measure)
}

async function withLock<T extends { report: Report }>(
  machine: MachineContext,
  { what }: MachineLockOrder,
  signal: AbortSignal,
  measure: (turn: MachineLockState) => Promise<T>,
): Promise<T | null> {
  const began = machine.clock.monotonic()
  const leave = await acquireMachineLock(machine, { alone: true, what }, signal)
  if (leave === null) return null
  try {
    const waitedSeconds = Math.round(machine.clock.monotonic() - began) / 1000
    const measured = await measure({ beside: false, waitedSeconds })
    return { ...measured, report: { ...measured.report, ...toWaitedSeconds(waitedSeconds) } }
  } finally {
    leave()
  }
}

/** Reading the lock takes some milliseconds, which are no waiting time. */
const NOTEWORTHY_SECONDS = 0.5

function toWaitedSeconds(waitedSeconds: number): Pick<Report, 'waited_seconds'> {
  return waitedSeconds < NOTEWORTHY_SECONDS ? {} : { waited_seconds: waitedSeconds }
}

/** Whether another process held the lock at any look. */
async function watchTimed(machine: MachineContext, over: AbortSignal): Promise<boolean> {
  for (;;) {
    if (await isTimedElsewhere(machine)) return true
    if (over.aborted) return false
    await machine.clock.sleep(LOOK_EVERY_MS, over)
  }
}

function hasTimedOut({ setups, gates, executions }: Report): boolean {
  return (
    [...setups, ...gates].some(run => run.timed_out) ||
    executions.some(({ status }) => status === 'timeout' || status === 'score-failed')
  )
}
