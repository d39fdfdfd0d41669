import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { bootId } from '../boot-id.ts'
import { holdoutRoom } from '../holdout-data.ts'
import { isMissing } from '../missing.ts'
import { descendantsOf, endProcess, findProcess, type ProcessEntry, processTable } from './process-table.ts'

const FILE = 'running.json'

const processId = z.strictObject({ pid: z.number().int().positive(), started: z.string() })
/** Who runs what in a work directory; written before a harness starts, removed when its last process is dead. */
const running = z.strictObject({ boot_id: z.string(), owner: processId, supervisor: processId.nullable() })
type Running = z.infer<typeof running>

/** Takes the work directory for this process. Ends first what a killed one left; refuses a living one. */
export async function claimWorkDir(workDir: string): Promise<void> {
  await reapLeftovers(workDir)
  await write(workDir, null)
}

export async function noteSupervisor(workDir: string, pid: number): Promise<void> {
  const entry = await findProcess(pid)
  await write(workDir, entry)
}

export async function releaseWorkDir(workDir: string): Promise<void> {
  rmSync(join(workDir, FILE), { force: true })
}

/** Ends what an earlier, killed winnow left running. Returns how many processes that were. */
export async function reapLeftovers(workDir: string): Promise<number> {
  const record = read(workDir)
  if (record === null || record.boot_id !== bootId()) return 0
  const owner = await alive(record.owner)
  if (owner !== null && owner.pid !== process.pid) {
    throw new UserError(`${workDir} is in use by process ${owner.pid}`, {
      fix: 'wait for it, or end it; two measurements in one place would disturb each other',
    })
  }
  const ended = owner === null ? await endLeft(workDir, record) : 0
  await releaseWorkDir(workDir)
  return ended
}

/** The supervisor takes its namespace with it; what it could not hold is found by the marks we gave it. */
async function endLeft(workDir: string, { supervisor }: Running): Promise<number> {
  const left = supervisor !== null && (await alive(supervisor)) !== null ? [supervisor.pid] : []
  return endMarked(workDir, left)
}

/** Ends every process that was started in this work directory and has not shed its environment. */
export async function endMarked(workDir: string, also: readonly number[] = []): Promise<number> {
  const marked = new Set(also)
  const table = await processTable()
  for (const { pid } of table) if (pid !== process.pid && (await carriesMark(pid, workDir))) marked.add(pid)
  const doomed = descendantsOf(table, marked)
  for (const entry of doomed) endProcess(entry.pid, 'SIGKILL')
  return doomed.length
}

async function carriesMark(pid: number, workDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return false
  try {
    const env = await readFile(`/proc/${pid}/environ`, 'latin1')
    const marks = [workDir, holdoutRoom(workDir)].map(room => `WINNOW_OUT_DIR=${join(room, 'at', 'out')}`)
    return env.split('\0').some(entry => marks.includes(entry))
  } catch {
    // Another user's process, or one that has just ended: in neither case ours to end.
    return false
  }
}

async function alive(id: z.infer<typeof processId>): Promise<ProcessEntry | null> {
  const entry = await findProcess(id.pid)
  return entry?.started === id.started ? entry : null
}

async function write(workDir: string, supervisor: ProcessEntry | null): Promise<void> {
  const self = await findProcess(process.pid)
  const value: Running = {
    boot_id: bootId(),
    owner: { pid: process.pid, started: self?.started ?? '' },
    supervisor: supervisor === null ? null : { pid: supervisor.pid, started: supervisor.started },
  }
  writeFileSync(join(workDir, FILE), JSON.stringify(value))
}

function read(workDir: string): Running | null {
  let text: string
  try {
    text = readFileSync(join(workDir, FILE), 'utf8')
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
  // Cut short by the kill that left it: then nothing had been started yet, or the marks still find it.
  const parsed = running.safeParse(parseOrNull(text))
  return parsed.success ? parsed.data : null
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
