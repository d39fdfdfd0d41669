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
import { UserError } from '../errors.ts'
import { isMissing } from '../measure/missing.ts'
import { hashSha256 } from '../model/canonical.ts'
import type { Clock, ProgressReporter, RandomSource } from '../ports.ts'
import { isRunAlive, readLocalRunId } from './local-run.ts'

/** Where the winnow processes of one user on one machine find each other. */
export interface MachineContext {
  machineDir: string
  clock: Clock
  random: RandomSource
  progress: ProgressReporter
}

export interface LockRequest {
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
  wish: LockRequest,
  signal: AbortSignal,
): Promise<(() => void) | null> {
  const directory = createLockDir(machine)
  const own = await drawLockNumber(directory, `${process.pid}-${machine.random.hex(8)}`, wish)
  const leave = () => rmSync(join(directory, `${own.token}.turn`), { force: true })
  for (let told = false; !signal.aborted; told = true) {
    const before = await findEarlierEntry(directory, own)
    if (before === null) return leave
    if (!told) machine.progress.say(formatWaitingText(before))
    await machine.clock.sleep(LOOK_AGAIN_MS, signal)
  }
  leave()
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
  const person = { run_id: await readLocalRunId(), pid: process.pid, alone, what }
  writeLockEntry(directory, `${token}.arriving`, { ...person, number: 0 })
  const numbers = (await listLiveEntries(directory, '.turn')).map(({ number }) => number)
  const drawn = { ...person, number: 1 + Math.max(0, ...numbers) }
  writeLockEntry(directory, `${token}.turn`, drawn)
  rmSync(join(directory, `${token}.arriving`), { force: true })
  return { ...drawn, token }
}

/** Those who arrive are looked at first: who has arrived since has its number written before the second look. */
async function findEarlierEntry(directory: string, own: LockEntry): Promise<LockEntry | null> {
  const inTheWay = ({ token, alone }: LockEntry) => token !== own.token && (alone || own.alone)
  const arriving = (await listLiveEntries(directory, '.arriving')).find(inTheWay)
  if (arriving !== undefined) return arriving
  const turns = (await listLiveEntries(directory, '.turn')).filter(inTheWay)
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
