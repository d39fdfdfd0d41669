import { execFile } from 'node:child_process'
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { hasErrorCode, listNames, readStoredJson } from '../file-system.ts'
import { getHoldoutDir } from '../holdout.ts'
import { getBootId } from '../machine.ts'

const CLAIM = /^running(?:-\d+)?\.json$/

const processId = z.strictObject({ pid: z.number().int().positive(), started: z.string() })
/**
 * A claim: the winnow process and the supervisor that use a work directory. Written before a harness starts,
 * removed when its last process is dead.
 */
const running = z.strictObject({ boot_id: z.string(), owner: processId, supervisor: processId.nullable() })
type RunningClaim = z.infer<typeof running>

/**
 * Claims the work directory for this process and ends processes of a killed owner. Each process writes its
 * own claim first and then checks for others. Of two concurrent processes both may give up, but never do both
 * stay, and neither ends the other's processes.
 */
export async function claimWorkDir(workDir: string): Promise<number> {
  const own = getClaimPath(workDir)
  const earlier = readClaim(own)
  const self = await getOwnProcess()
  await writeClaim(workDir)
  const others = listClaims(workDir).filter(file => file !== own)
  for (const file of others) await requireDead(workDir, own, readClaim(file))
  let ended = 0
  if (earlier !== null && earlier.owner.started !== self.started) ended += await endClaimed(workDir, earlier)
  for (const file of others) {
    const record = readClaim(file)
    if (record !== null) ended += await endClaimed(workDir, record)
    rmSync(file, { force: true })
  }
  return ended
}

async function requireDead(workDir: string, own: string, record: RunningClaim | null): Promise<void> {
  if (record === null || record.boot_id !== getBootId() || !(await isAlive(record.owner))) return
  rmSync(own, { force: true })
  throw new UserError(`${workDir} is in use by process ${record.owner.pid}`, {
    fix: 'wait for it, or end it; two measurements in one directory would disturb each other',
  })
}

export async function noteSupervisor(workDir: string, pid: number): Promise<void> {
  const text = await formatClaim(await findProcess(pid))
  const file = openSync(getClaimPath(workDir), 'r+')
  try {
    writeSync(file, text, 0)
  } finally {
    closeSync(file)
  }
}

export async function releaseWorkDir(workDir: string): Promise<void> {
  rmSync(getClaimPath(workDir), { force: true })
}

/** Ends processes of an earlier, killed winnow without claiming the directory. Returns their number. */
export async function endLeftovers(workDir: string): Promise<number> {
  const claims = listClaims(workDir)
  if (claims.length === 0 || (await isOurs(workDir))) return 0
  const ended = await claimWorkDir(workDir)
  await releaseWorkDir(workDir)
  return ended
}

async function isOurs(workDir: string): Promise<boolean> {
  const record = readClaim(getClaimPath(workDir))
  return record?.boot_id === getBootId() && record.owner.started === (await getOwnProcess()).started
}

function getClaimPath(workDir: string): string {
  return join(workDir, `running-${process.pid}.json`)
}

function listClaims(workDir: string): string[] {
  return listNames(workDir)
    .filter(name => CLAIM.test(name))
    .map(name => join(workDir, name))
}

/** The supervisor's namespace ends with it. Processes outside of it are found by their environment. */
async function endClaimed(workDir: string, { boot_id, supervisor }: RunningClaim): Promise<number> {
  if (boot_id !== getBootId()) return 0
  const left = supervisor !== null && (await isAlive(supervisor)) ? [supervisor.pid] : []
  return endMarked(workDir, left)
}

/** Ends every process that was started in this work directory and still has its environment. */
export async function endMarked(workDir: string, also: readonly number[] = []): Promise<number> {
  const marked = new Set(also)
  const table = await listProcesses()
  for (const { pid } of table) if (pid !== process.pid && (await hasMark(pid, workDir))) marked.add(pid)
  const targets = findDescendants(table, marked)
  for (const entry of targets) endProcess(entry.pid, 'SIGKILL')
  return targets.length
}

async function hasMark(pid: number, workDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  try {
    const env = await readFile(`/proc/${pid}/environ`, 'latin1')
    const marks = [workDir, getHoldoutDir(workDir)].map(dir => `WINNOW_OUT_DIR=${join(dir, 'at', 'out')}`)
    return env.split('\0').some(entry => marks.includes(entry))
  } catch {
    // Another user's process, or one that has just ended: neither is ours to end.
    return false
  }
}

async function isAlive({ pid, started }: z.infer<typeof processId>): Promise<boolean> {
  return (await findProcess(pid))?.started === started
}

let self: z.infer<typeof processId> | null = null

async function getOwnProcess(): Promise<z.infer<typeof processId>> {
  self ??= { pid: process.pid, started: (await findProcess(process.pid))?.started ?? '' }
  return self
}

/** Renamed into place: a reader must not take a partial claim for none. */
async function writeClaim(workDir: string): Promise<void> {
  const file = getClaimPath(workDir)
  writeFileSync(`${file}.part`, await formatClaim(null))
  renameSync(`${file}.part`, file)
}

const LENGTH = 320

/** Fixed length, so that a claim can be overwritten in place on a full disk. */
async function formatClaim(supervisor: ProcessEntry | null): Promise<string> {
  const value: RunningClaim = {
    boot_id: getBootId(),
    owner: await getOwnProcess(),
    supervisor: supervisor === null ? null : { pid: supervisor.pid, started: supervisor.started },
  }
  return JSON.stringify(value).padEnd(LENGTH)
}

/** Null for a damaged claim: a power failure truncated it, so none of its processes is alive. */
function readClaim(file: string): RunningClaim | null {
  return running.safeParse(readStoredJson(file)).data ?? null
}

// Process table

export interface ProcessEntry {
  pid: number
  ppid: number
  pgid: number
  /** Pids are reused; a pid with its start time is unique. */
  started: string
}

const run = promisify(execFile)
const STAT = /^(\d+) \(.*\) (\S)(.*)$/s

/** Every visible live process. Zombies count as dead. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  if (process.platform !== 'linux') return listProcessesWithPs()
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (readEntry(Number(name)) ?? []) : []))
}

export async function findProcess(pid: number): Promise<ProcessEntry | null> {
  if (process.platform === 'linux') return readEntry(pid)
  return (await listProcessesWithPs()).find(entry => entry.pid === pid) ?? null
}

/** `roots` and their descendants, as far as parent ids still show. */
export function findDescendants(table: readonly ProcessEntry[], roots: ReadonlySet<number>): ProcessEntry[] {
  const found = new Set(roots)
  let before = -1
  while (before !== found.size) {
    before = found.size
    for (const entry of table) if (found.has(entry.ppid)) found.add(entry.pid)
  }
  return table.filter(entry => found.has(entry.pid))
}

export function endProcess(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!hasErrorCode(error, 'ESRCH')) throw error
  }
}

function readEntry(pid: number): ProcessEntry | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // The process ended after it was listed.
    return null
  }
  const [, , state = 'X', rest = ''] = STAT.exec(text) ?? []
  if (state === 'Z' || state === 'X') return null
  const fields = rest.trim().split(' ')
  return { pid, ppid: Number(fields[0]), pgid: Number(fields[1]), started: fields[18] ?? '' }
}

async function listProcessesWithPs(): Promise<ProcessEntry[]> {
  const { stdout } = await run('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='])
  return stdout.split('\n').flatMap(line => {
    const [, pid, ppid, pgid, state = 'Z', started = ''] =
      /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || state.startsWith('Z')) return []
    return [{ pid: Number(pid), ppid: Number(ppid), pgid: Number(pgid), started }]
  })
}
