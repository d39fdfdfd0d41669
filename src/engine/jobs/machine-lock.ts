import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { readStoredJson, writeStoredJson } from '../../measure/file-system.ts'
import { getBootId } from '../../measure/machine.ts'
import { findProcess } from '../../measure/process/leftovers.ts'
import { hashSha256 } from '../../model/canonical-json.ts'
import type { Order } from '../../model/order.ts'
import type { Report } from '../../model/report.ts'
import type { RunFacts } from '../../plan/world.ts'
import type { Clock, ProgressReporter, RandomSource } from '../../ports.ts'
import type { Spec } from '../../spec/schema.ts'
import type { OrderClaim, OrderFile } from './order-files.ts'
import { chooseSlotRequest } from './worker-slots.ts'

interface MachineContext {
  machineDir: string
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
}

interface LockRequest {
  /** Exclusive against every other request; a shared request conflicts only with exclusive ones. */
  alone: boolean
  /** Shown to processes that wait. */
  what: string
}

const entry = z.strictObject({
  run_id: z.string(),
  pid: z.number().int().positive(),
  alone: z.boolean(),
  what: z.string(),
  number: z.number().int().nonnegative(),
})
type LockEntry = z.infer<typeof entry> & { token: string }

const POLL_MS = 1_000

/**
 * Never measures timing in parallel on one machine. Lamport's bakery algorithm in files: each process writes
 * only its own files, so that two processes cannot take over the lock of a killed one at once. Returns a
 * function that releases the lock; null when the signal came first.
 */
export async function acquireMachineLock(
  machine: MachineContext,
  request: LockRequest,
  signal: AbortSignal,
): Promise<(() => void) | null> {
  const directory = createLockDir(machine)
  const own = await drawLockNumber(directory, `${process.pid}-${machine.random.hex(8)}`, request)
  const release = () => rmSync(join(directory, `${own.token}.turn`), { force: true })
  for (let reported = false; !signal.aborted; reported = true) {
    const earlier = await findEarlierEntry(directory, own)
    if (earlier === null) return release
    if (!reported)
      machine.progress.say(
        `waiting for process ${earlier.pid} (${earlier.what}), which is measuring: timing is never measured in parallel on one machine`,
      )
    await machine.clock.sleep(POLL_MS, signal)
  }
  release()
  return null
}

export async function isTimedElsewhere(machine: Pick<MachineContext, 'machineDir'>): Promise<boolean> {
  for (const directory of listLockDirs(machine).filter(existsSync))
    if ((await listLiveEntries(directory, '.turn')).some(({ alone }) => alone)) return true
  return false
}

/** All processes that cannot write the user's cache (a read-only HOME) meet in the temporary directory. */
function listLockDirs({ machineDir }: Pick<MachineContext, 'machineDir'>): string[] {
  const name = `turns-${hashSha256(hostname()).slice(0, 12)}`
  const uid = process.getuid?.() ?? 'user'
  return [join(machineDir, name), join(tmpdir(), `winnow-${uid}`, name)]
}

function createLockDir(machine: MachineContext): string {
  const failures: string[] = []
  for (const directory of listLockDirs(machine)) {
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      const uid = process.getuid?.()
      if (uid !== undefined && statSync(directory).uid !== uid)
        throw new Error(`${directory} is another user's`)
      accessSync(directory, constants.W_OK)
      return directory
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  throw new UserError(`winnow cannot keep its machine lock: ${failures.join('; ')}`, {
    place: { file: machine.machineDir },
    fix: 'give write permission there, or set XDG_CACHE_HOME or TMPDIR to a directory that may be written',
  })
}

/** Others cannot know yet whether this process comes first. They see its `.arriving` file and wait. */
async function drawLockNumber(
  directory: string,
  token: string,
  { alone, what }: LockRequest,
): Promise<LockEntry> {
  const holder = { run_id: await readLocalRunId(), pid: process.pid, alone, what }
  writeStoredJson(join(directory, `${token}.arriving`), { ...holder, number: 0 })
  const numbers = (await listLiveEntries(directory, '.turn')).map(({ number }) => number)
  const drawn = { ...holder, number: 1 + Math.max(0, ...numbers) }
  writeStoredJson(join(directory, `${token}.turn`), drawn)
  rmSync(join(directory, `${token}.arriving`), { force: true })
  return { ...drawn, token }
}

/** Checks arriving processes first: one that arrived since has written its number before the second check. */
async function findEarlierEntry(directory: string, own: LockEntry): Promise<LockEntry | null> {
  const isConflicting = ({ token, alone }: LockEntry) => token !== own.token && (alone || own.alone)
  const arriving = (await listLiveEntries(directory, '.arriving')).find(isConflicting)
  if (arriving !== undefined) return arriving
  const turns = (await listLiveEntries(directory, '.turn')).filter(isConflicting)
  return turns.find(other => isEarlier(other, own)) ?? null
}

function isEarlier(other: LockEntry, own: LockEntry): boolean {
  return other.number === own.number ? other.token < own.token : other.number < own.number
}

/** Returns the entries of live processes and removes those of dead ones. A run id is never reused. */
async function listLiveEntries(directory: string, kind: '.arriving' | '.turn'): Promise<LockEntry[]> {
  const living: LockEntry[] = []
  for (const name of readdirSync(directory).filter(each => each.endsWith(kind))) {
    // A live process writes its file atomically.
    const found = entry.safeParse(readStoredJson(join(directory, name))).data
    if (found === undefined) continue
    if ((await isRunAlive({ runId: found.run_id, here: true })) === false)
      rmSync(join(directory, name), { force: true })
    else living.push({ ...found, token: name.slice(0, -kind.length) })
  }
  return living
}

export interface MachineLockState {
  /** Another process may time something meanwhile, so every process of the order runs at low priority. */
  beside: boolean
  /** Seconds spent waiting for the machine lock. They cost nothing and count against no limit. */
  waitedSeconds: number
}

interface MachineLockOrder {
  order: Pick<Order, 'stop' | 'attempt'>
  spec: Spec
  /** Each side may run as a user of its own. */
  users?: boolean
  what: string
}

/**
 * Measures timed orders under the machine lock. A deterministic order runs at low priority without the lock.
 * If it hits a time limit while another process timed something, it is measured again with the lock, because
 * its low priority may be the cause. Returns null when the signal came first.
 */
export async function measureWithLock<T extends { report: Report }>(
  machine: MachineContext,
  request: MachineLockOrder,
  signal: AbortSignal,
  measure: (turn: MachineLockState) => Promise<T>,
): Promise<T | null> {
  if (chooseSlotRequest(request.order, request.spec, request.users).alone)
    return withLock(machine, request, signal, measure)
  const finished = new AbortController()
  const watching = watchTimed(machine, AbortSignal.any([finished.signal, signal]))
  let measured: T
  let wasTimedElsewhere: boolean
  try {
    measured = await measure({ beside: true, waitedSeconds: 0 })
  } finally {
    finished.abort()
    wasTimedElsewhere = await watching
  }
  if (!wasTimedElsewhere || !hasTimedOut(measured.report)) return measured
  machine.progress.say(
    `${request.what}: a time limit was hit while another process timed something here, so this is measured again alone`,
  )
  return withLock(machine, request, signal, measure)
}

async function withLock<T extends { report: Report }>(
  machine: MachineContext,
  { what }: MachineLockOrder,
  signal: AbortSignal,
  measure: (turn: MachineLockState) => Promise<T>,
): Promise<T | null> {
  const began = machine.clock.monotonic()
  const release = await acquireMachineLock(machine, { alone: true, what }, signal)
  if (release === null) return null
  try {
    const waitedSeconds = Math.round(machine.clock.monotonic() - began) / 1000
    const measured = await measure({ beside: false, waitedSeconds })
    return { ...measured, report: { ...measured.report, ...toWaitedSeconds(waitedSeconds) } }
  } finally {
    release()
  }
}

/** Reading the lock takes milliseconds, which do not count as waiting. */
const NOTEWORTHY_SECONDS = 0.5

function toWaitedSeconds(waitedSeconds: number): Pick<Report, 'waited_seconds'> {
  return waitedSeconds < NOTEWORTHY_SECONDS ? {} : { waited_seconds: waitedSeconds }
}

/** Returns whether another process held the lock at any poll. */
async function watchTimed(machine: MachineContext, finished: AbortSignal): Promise<boolean> {
  for (;;) {
    if (await isTimedElsewhere(machine)) return true
    if (finished.aborted) return false
    await machine.clock.sleep(POLL_MS, finished)
  }
}

function hasTimedOut({ setups, gates, executions }: Report): boolean {
  return (
    [...setups, ...gates].some(run => run.timed_out) ||
    executions.some(({ status }) => status === 'timeout' || status === 'score-failed')
  )
}

/** Boot id, pid and start time: every process of this machine can tell whether the run lives. */
export async function readLocalRunId(): Promise<string> {
  const own = await findProcess(process.pid)
  return ['local', getBootId(), process.pid, own?.started ?? ''].join(':')
}

/** A run that was claimed here before the last boot is over, even if its process id is in use again. */
export async function isRunAlive({
  runId,
  here,
}: Pick<OrderClaim, 'runId' | 'here'>): Promise<boolean | null> {
  const [kind, boot, pid, ...started] = runId.split(':')
  // Null for a run of another machine.
  if (kind !== 'local' || boot !== getBootId()) return here ? false : null
  const found = await findProcess(Number(pid))
  return found !== null && found.started === started.join(':')
}

export function describeHolder(runId: string): string {
  const [kind, boot, pid] = runId.split(':')
  if (kind !== 'local') return `run ${runId}`
  return boot === getBootId()
    ? `process ${pid}`
    : `process ${pid} of another machine, or of before this one's last start,`
}

/** `recorded`: the run id in the ledger. `localState`: what this process, `runId`, does with the order. */
export async function readRunFact(
  file: OrderFile | null,
  recorded: string | null,
  localState: 'running' | 'waiting' | null,
  runId: string,
): Promise<RunFacts | null> {
  if (file?.report) {
    if ('unreadable' in file.report)
      return { state: 'unreadable', runId: file.runId, reason: file.report.unreadable }
    return { state: 'reported', runId: file.runId, report: file.report }
  }
  const left = {
    ...(file?.partial ? { partial: file.partial } : {}),
    ...(file?.waitedSeconds === undefined ? {} : { waitedSeconds: file.waitedSeconds }),
    ...(file === null ? {} : { cost: file.cost }),
  }
  if (localState !== null)
    return localState === 'running' ? { state: localState, ...left } : { state: localState }
  const holder = file?.runId ?? recorded
  if (holder === null) return null
  const gone = { state: 'gone', started: file?.started ?? false, runId: holder, ...left } as const
  if (holder === runId) return gone
  const alive = await isRunAlive({ runId: holder, here: file?.here ?? false })
  if (alive === null) return null
  if (!alive) return gone
  // A run claims the order when it gets a slot, which other campaigns may use for any time.
  return { state: 'running', ...(file === null ? { queued: true } : {}), ...left }
}
