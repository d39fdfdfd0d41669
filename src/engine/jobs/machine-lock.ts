import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { isMissing } from '../../measure/file-system.ts'
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

/** Where the winnow processes of one user on one machine find each other. */
interface MachineContext {
  machineDir: string
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
}

interface LockRequest {
  /** Nothing else may run meanwhile; else only what wants to be alone may not. */
  alone: boolean
  /** For those who have to wait. */
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

const LOOK_AGAIN_MS = 1_000

/**
 * Timing is never measured in parallel on one machine. Lamport's bakery, in files: everybody writes only files
 * of its own, so that a killed process leaves nothing that two others could take over at once. The answer gives
 * the turn back; null where the signal came first.
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
    if (!reported) machine.progress.say(formatWaitingText(earlier))
    await machine.clock.sleep(LOOK_AGAIN_MS, signal)
  }
  release()
  return null
}

/** Whether another process of this user holds the lock for something timed. */
export async function isTimedElsewhere(machine: Pick<MachineContext, 'machineDir'>): Promise<boolean> {
  const directory = listLockDirs(machine).find(existsSync)
  return directory !== undefined && (await listLiveEntries(directory, '.turn')).some(({ alone }) => alone)
}

/**
 * Below the user's cache; where that cannot be written (a read-only HOME, which --cache-dir allows), below the temporary
 * directory. All processes that find the first one closed meet in the second.
 */
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

function formatWaitingText({ pid, what }: LockEntry): string {
  return `waiting for process ${pid} (${what}), which is measuring: timing is never measured in parallel on one machine`
}

/** While somebody draws, others cannot know whether they come first: they see it arriving, and wait. */
async function drawLockNumber(
  directory: string,
  token: string,
  { alone, what }: LockRequest,
): Promise<LockEntry> {
  const holder = { run_id: await readLocalRunId(), pid: process.pid, alone, what }
  writeLockEntry(directory, `${token}.arriving`, { ...holder, number: 0 })
  const numbers = (await listLiveEntries(directory, '.turn')).map(({ number }) => number)
  const drawn = { ...holder, number: 1 + Math.max(0, ...numbers) }
  writeLockEntry(directory, `${token}.turn`, drawn)
  rmSync(join(directory, `${token}.arriving`), { force: true })
  return { ...drawn, token }
}

/** Those who arrive are looked at first: who has arrived since has its number written before the second look. */
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

function writeLockEntry(directory: string, name: string, value: z.infer<typeof entry>): void {
  const file = join(directory, name)
  writeFileSync(`${file}.part`, JSON.stringify(value))
  renameSync(`${file}.part`, file)
}

/** Of living processes; what a dead one left is taken away, its id never being anybody else's. */
async function listLiveEntries(directory: string, kind: '.arriving' | '.turn'): Promise<LockEntry[]> {
  const living: LockEntry[] = []
  for (const name of readdirSync(directory).filter(each => each.endsWith(kind))) {
    const found = readLockEntry(join(directory, name))
    if (found === null) continue
    if ((await isRunAlive({ runId: found.run_id, here: true })) === false)
      rmSync(join(directory, name), { force: true })
    else living.push({ ...found, token: name.slice(0, -kind.length) })
  }
  return living
}

/** Null where it has gone meanwhile, or is damaged: a living process writes its file whole. */
function readLockEntry(file: string): z.infer<typeof entry> | null {
  try {
    return entry.safeParse(JSON.parse(readFileSync(file, 'utf8'))).data ?? null
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null
    throw error
  }
}

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
  request: MachineLockOrder,
  signal: AbortSignal,
  measure: (turn: MachineLockState) => Promise<T>,
): Promise<T | null> {
  if (chooseSlotRequest(request.order, request.spec).alone) return withLock(machine, request, signal, measure)
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

/** Reading the lock takes some milliseconds, which are no waiting time. */
const NOTEWORTHY_SECONDS = 0.5

function toWaitedSeconds(waitedSeconds: number): Pick<Report, 'waited_seconds'> {
  return waitedSeconds < NOTEWORTHY_SECONDS ? {} : { waited_seconds: waitedSeconds }
}

/** Whether another process held the lock at any look. */
async function watchTimed(machine: MachineContext, finished: AbortSignal): Promise<boolean> {
  for (;;) {
    if (await isTimedElsewhere(machine)) return true
    if (finished.aborted) return false
    await machine.clock.sleep(LOOK_EVERY_MS, finished)
  }
}

function hasTimedOut({ setups, gates, executions }: Report): boolean {
  return (
    [...setups, ...gates].some(run => run.timed_out) ||
    executions.some(({ status }) => status === 'timeout' || status === 'score-failed')
  )
}

/** Local run id = boot id + pid + start time: unique, and anybody on this machine can tell whether it lives. */
export async function readLocalRunId(): Promise<string> {
  const own = await findProcess(process.pid)
  return ['local', getBootId(), process.pid, own?.started ?? ''].join(':')
}

/** A run claimed on this host before its last start is over, whatever its process id is now. */
export async function isRunAlive({
  runId,
  here,
}: Pick<OrderClaim, 'runId' | 'here'>): Promise<boolean | null> {
  return (await isRunIdAlive(runId)) ?? (here ? false : null)
}

/** null: a run of another machine, about which nothing can be known here. */
async function isRunIdAlive(runId: string): Promise<boolean | null> {
  const [kind, boot, pid, ...rest] = runId.split(':')
  const started = rest.join(':')
  if (kind !== 'local' || boot !== getBootId()) return null
  const found = await findProcess(Number(pid))
  return found !== null && found.started === started
}

/** A run as people can find it. */
export function describeHolder(runId: string): string {
  const [kind, boot, pid] = runId.split(':')
  if (kind !== 'local') return `run ${runId}`
  return boot === getBootId()
    ? `process ${pid}`
    : `process ${pid} of another machine, or of before this one's last start,`
}

/**
 * What is known here of an order's run: `recorded` is the run id in the ledger, `runId` this process's, `mine`
 * what this process does about it now.
 */
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
  }
  if (localState !== null)
    return localState === 'running' ? { state: localState, ...left } : { state: localState }
  const holder = file?.runId ?? recorded
  if (holder === null) return null
  const gone = { state: 'gone', started: file?.started ?? false, runId: holder, ...left } as const
  if (holder === runId) return gone
  const alive = await isRunAlive({ runId: holder, here: file?.here ?? false })
  if (alive === null) return null
  return alive ? { ...toRunningFact(file !== null), ...left } : gone
}

/** It is claimed when its turn comes: until then other campaigns keep the machine, for as long as they take. */
function toRunningFact(claimed: boolean): Extract<RunFacts, { state: 'running' }> {
  return claimed ? { state: 'running' } : { state: 'running', queued: true }
}
