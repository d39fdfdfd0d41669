import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'

export interface ProcessEntry {
  pid: number
  ppid: number
  pgid: number
  /** Pids are reused; a pid with its start time is not. */
  started: string
}

const run = promisify(execFile)
const STAT = /^(\d+) \(.*\) (\S)(.*)$/s

/** Every live process that can be seen. Zombies are dead already. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  if (process.platform !== 'linux') return listProcessesWithPs()
  return readdirSync('/proc').flatMap(name => (/^\d+$/.test(name) ? (readEntry(Number(name)) ?? []) : []))
}

export async function findProcess(pid: number): Promise<ProcessEntry | null> {
  if (process.platform === 'linux') return readEntry(pid)
  return (await listProcessesWithPs()).find(entry => entry.pid === pid) ?? null
}

/** `roots` and everything that stems from them, as far as parenthood still tells. */
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
    if (!isGone(error)) throw error
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ESRCH'
}

function readEntry(pid: number): ProcessEntry | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    // It ended between the listing and now, which is what the caller asks about.
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
