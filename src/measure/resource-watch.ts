import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { HeldResources } from '../model/report.ts'

export interface ResourceWatch {
  /** Looks once more, and returns all resources seen so far. */
  look(): HeldResources
  end(): HeldResources
}

const EVERY_MS = 50
const ACCELERATOR = /^\/dev\/(?:nvidia\d|dri\/renderD|kfd|accel|davinci\d)/
const NO_FILE = /^(?:\/dev\/(?!shm\/)|\/proc\/|\/sys\/|\/memfd:|[a-z_]+:)/

/**
 * Polls /proc for the processes of executions in these work directories, several times a second. A shorter use is
 * missed, so the lists prove no absence.
 */
export function watchResources(...workDirs: string[]): ResourceWatch {
  const seen = { ports: new Set<number>(), files: new Set<string>(), devices: new Set<string>() }
  const earlier = new Set(listProcessIds())
  const look = () => {
    for (const pid of listProcessIds().filter(each => !earlier.has(each)))
      for (const workDir of workDirs) if (isMarked(pid, workDir)) inspectProcess(pid, workDir, seen)
  }
  const timer = setInterval(look, EVERY_MS)
  timer.unref()
  const listSeen = () => ({
    ports: [...seen.ports].toSorted((a, b) => a - b),
    files: [...seen.files].toSorted(),
    devices: [...seen.devices].toSorted(),
  })
  return {
    look() {
      look()
      return listSeen()
    },
    end() {
      clearInterval(timer)
      return listSeen()
    },
  }
}

function listProcessIds(): string[] {
  return readOrDefault(() => readdirSync('/proc').filter(name => /^\d+$/.test(name)), [])
}

/** Executions and gates start with this variable, and their children inherit it. */
function isMarked(pid: string, workDir: string): boolean {
  const mark = `WINNOW_OUT_DIR=${join(workDir, 'at')}/`
  return readOrDefault(() => readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0'), []).some(entry =>
    entry.startsWith(mark),
  )
}

function inspectProcess(
  pid: string,
  workDir: string,
  seen: { ports: Set<number>; files: Set<string>; devices: Set<string> },
): void {
  const sockets = new Set<string>()
  for (const fd of readOrDefault(() => readdirSync(`/proc/${pid}/fd`), [])) {
    const target = readOrDefault(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '')
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? []
    if (inode !== undefined) sockets.add(inode)
    if (ACCELERATOR.test(target)) seen.devices.add(target)
    const outside = target.startsWith('/') && !NO_FILE.test(target) && !target.startsWith(`${workDir}/`)
    if (outside && isWritten(pid, fd)) seen.files.add(target.replace(/ \(deleted\)$/, ''))
  }
  if (sockets.size === 0) return
  for (const table of ['tcp', 'tcp6'])
    for (const port of listListeningPorts(`/proc/${pid}/net/${table}`, sockets)) seen.ports.add(port)
}

function isWritten(pid: string, fd: string): boolean {
  const info = readOrDefault(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'), '')
  const [, flags = '0'] = /^flags:\s*([0-7]+)/m.exec(info) ?? []
  return (Number.parseInt(flags, 8) & 3) !== 0
}

const LISTEN = '0A'

function listListeningPorts(table: string, sockets: ReadonlySet<string>): number[] {
  const lines = readOrDefault(() => readFileSync(table, 'latin1').split('\n').slice(1), [])
  return lines.flatMap(line => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    return state === LISTEN && sockets.has(inode) ? [Number.parseInt(local.split(':')[1] ?? '', 16)] : []
  })
}

/** A process may end during inspection, and other systems have no /proc: both yield the default. */
function readOrDefault<T>(look: () => T, otherwise: T): T {
  try {
    return look()
  } catch {
    return otherwise
  }
}
