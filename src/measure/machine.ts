import { readFileSync, type StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { arch, cpus, hostname, platform, release, totalmem, uptime } from 'node:os'
import { join } from 'node:path'
import { hashSha256 } from '../model/canonical-json.ts'
import type { MachineInfo } from '../model/report.ts'
import { formatMachineFailure } from '../model/failed-output.ts'
import { isMissing, isUnreachable } from './file-system.ts'
import type { Ended } from './process/launch.ts'

/** Where a report was made; `buildMachineKey` of the model says which of these must agree to compare stored numbers. */
export function readMachineFingerprint(env: Readonly<Record<string, string>>): MachineInfo {
  const processors = cpus()
  const image = [env['ImageOS'], env['ImageVersion']].filter(part => part !== undefined && part !== '')
  return {
    boot_id: getBootId(),
    hostname_sha256: hashSha256(hostname()),
    os: `${platform()} ${arch()}`,
    kernel: release(),
    cpu_model: processors[0]?.model.trim() ?? 'unknown',
    cores: Math.max(1, processors.length),
    memory_mb: Math.max(1, Math.round(totalmem() / 2 ** 20)),
    image: image.length === 0 ? null : image.join(' '),
    node: process.version,
  }
}

let known: string | null = null

/** Changes with every start of the machine: two jobs with different ones ran on fresh machines. */
export function getBootId(): string {
  known ??= process.platform === 'linux' ? readKernelBootId() : computeBootId()
  return known
}

function readKernelBootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
}

/** No kernel id to read: the minute in which this host was started, which does not move with the clock's drift. */
function computeBootId(): string {
  return hashSha256(`${hostname()} ${Math.round((Date.now() / 1000 - uptime()) / 60)}`)
}

/** GitHub's runner starts one for each job, and every step descends from it. */
const WORKER = 'Runner.Worker'
/** Linux gives start times to programs in hundredths of a second, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100
const STAT = /^\d+ \((.*)\) \S (.*)$/s

/**
 * Seconds since the runner started this job of GitHub Actions. null where that cannot be seen: outside a job, in a
 * container, or where there is no /proc.
 */
export function readJobAge(pid: number = process.pid, proc = '/proc'): number | null {
  try {
    for (let at = pid; at > 1; ) {
      const [, name, rest = ''] = STAT.exec(readFileSync(join(proc, String(at), 'stat'), 'latin1')) ?? []
      const fields = rest.trim().split(' ')
      if (name === WORKER) return computeAge(Number(fields[18]), proc)
      at = Number(fields[0])
    }
  } catch {
    // No /proc, or a process that ended meanwhile.
  }
  return null
}

function computeAge(started: number, proc: string): number | null {
  const uptime = Number(readFileSync(join(proc, 'uptime'), 'latin1').split(' ')[0])
  const seconds = uptime - started / TICKS_PER_SECOND
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** How often this machine refused its programs something so far; null where the kernel does not count it for us. */
export interface KernelCounts {
  /** Processes that it ended for lack of memory, in this control group. */
  outOfMemory: number | null
  /** The same on the whole machine. */
  outOfMemoryAnywhere: number | null
  /** Processes that could not be started, in this control group. */
  noProcess: number | null
}

export class MachineFailed extends Error {
  override readonly name: string = 'MachineFailed'
}

/**
 * Reads the kernel's counters after a command has failed. The command's own words do not count: it could say so
 * to be measured again. null: nothing, so that it is the command's own failure.
 */
export function detectMachineFailure(
  before: KernelCounts,
  after: KernelCounts,
  { exitCode, signal, timedOut }: Pick<Ended, 'exitCode' | 'signal' | 'timedOut'>,
): string | null {
  const killed = !timedOut && (signal === 'SIGKILL' || exitCode === 128 + 9)
  const rose = (name: keyof KernelCounts) => (after[name] ?? 0) > (before[name] ?? after[name] ?? 0)
  if (rose('outOfMemory') || (killed && rose('outOfMemoryAnywhere')))
    return 'the kernel ended a process for lack of memory'
  if (rose('noProcess')) return 'no more processes could be started here (fork: EAGAIN)'
  return null
}

const OF_THE_MACHINE: Readonly<Record<string, string>> = {
  EAGAIN: 'a process could not be started',
  ENOMEM: 'there was no memory left',
  EMFILE: 'too many files were open',
  ENFILE: 'too many files were open',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

/** A runner's own error, in words: which of them are the machine's is known by their codes. */
export function describeRunnerError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof MachineFailed) return formatMachineFailure(error.message)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const what = OF_THE_MACHINE[code]
  return what === undefined ? error.message : formatMachineFailure(`${what} (${error.message})`)
}

const CGROUPS = '/sys/fs/cgroup'

export function readKernelCounts(): KernelCounts {
  const groups = readKernelFile('/proc/self/cgroup') ?? ''
  const unified = /^0::(.*)$/m.exec(groups)?.[1] ?? '/'
  const of = (controller: string) =>
    new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(groups)?.[1]
  const inGroup = (file: string, controller: string, older: string) =>
    readKernelFile(join(CGROUPS, unified, file)) ??
    readKernelFile(join(CGROUPS, controller, of(controller) ?? '/', older))
  return {
    outOfMemory: parseKernelCount(inGroup('memory.events', 'memory', 'memory.oom_control'), 'oom_kill'),
    outOfMemoryAnywhere: parseKernelCount(readKernelFile('/proc/vmstat'), 'oom_kill'),
    noProcess: parseKernelCount(inGroup('pids.events', 'pids', 'pids.events'), 'max'),
  }
}

export function parseKernelCount(text: string | null, name: string): number | null {
  const found = new RegExp(`^${name} (\\d+)$`, 'm').exec(text ?? '')
  return found === null ? null : Number(found[1])
}

function readKernelFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isMissing(error) || isUnreachable(error) || isUnsupported(error)) return null
    throw error
  }
}

/** Files of the kernel may be there and refuse to be read. */
function isUnsupported(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['EOPNOTSUPP', 'ENODEV', 'EACCES', 'EPERM'].includes(String(error.code))
  )
}

/** A file that needs no more than this is refused only by a disk that is full. */
const FULL_BYTES = 64 * 1024

export class DiskFull extends MachineFailed {
  override readonly name: string = 'DiskFull'
  constructor(what: 'space' | 'inode', dir: string) {
    super(`ENOSPC: no ${what} is left where it is measured, ${dir}`)
  }
}

/**
 * After something has failed: a disk that is full by then is the runner's failure and nobody's verdict, also
 * where what was captured of a harness is cut short for want of room (invariant 5). What a harness says about it
 * is not asked: it could say so to be measured again.
 */
export async function refuseFull(dir: string): Promise<void> {
  const what = findShortage(await statfs(dir), process.getuid?.() === 0)
  if (what !== null) throw new DiskFull(what, dir)
}

type FileSystemStats = Pick<StatsFs, 'bsize' | 'blocks' | 'bfree' | 'bavail' | 'files' | 'ffree'>

/** null: there is room, or the file system does not count. `root` may use what is kept back for it. */
export function findShortage(room: FileSystemStats, root: boolean): 'space' | 'inode' | null {
  const { bsize, blocks, bfree, bavail, files, ffree } = room
  if (blocks > 0 && (root ? bfree : bavail) * bsize < FULL_BYTES) return 'space'
  return files > 0 && ffree === 0 ? 'inode' : null
}
