import { readFileSync, type StatsFs } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { arch, cpus, hostname, platform, release, totalmem, uptime } from 'node:os'
import { join } from 'node:path'
import { hashSha256 } from '../model/canonical-json.ts'
import { formatMachineFailure, type MachineInfo } from '../model/report.ts'
import { hasErrorCode, isMissing, isUnreachable } from './file-system.ts'
import type { Ended } from './process/launch.ts'

/** `buildMachineKey` in model lists the fields that must match to compare stored numbers. */
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

/** Changes at every boot. Jobs with different ids ran on fresh machines. */
export function getBootId(): string {
  known ??=
    process.platform === 'linux'
      ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
      : computeBootId()
  return known
}

/** Without a kernel boot id: the minute of the boot, which tolerates clock drift. */
function computeBootId(): string {
  return hashSha256(`${hostname()} ${Math.round((Date.now() / 1000 - uptime()) / 60)}`)
}

// Job age

/** GitHub's runner starts one for each job. Every step descends from it. */
const WORKER = 'Runner.Worker'
/** Linux reports start times in hundredths of a second at every tick rate of the kernel. */
const TICKS_PER_SECOND = 100
const STAT = /^\d+ \((.*)\) \S (.*)$/s

/** Seconds since GitHub Actions started this job. Null outside a job, in a container, or without /proc. */
export function readJobAge(pid: number = process.pid, proc = '/proc'): number | null {
  try {
    for (let at = pid; at > 1; ) {
      const [, name, rest = ''] = STAT.exec(readFileSync(join(proc, String(at), 'stat'), 'latin1')) ?? []
      const fields = rest.trim().split(' ')
      if (name === WORKER) return computeAge(Number(fields[18]), proc)
      at = Number(fields[0])
    }
  } catch {
    // No /proc, or the process has ended.
  }
  return null
}

function computeAge(started: number, proc: string): number | null {
  const uptime = Number(readFileSync(join(proc, 'uptime'), 'latin1').split(' ')[0])
  const seconds = uptime - started / TICKS_PER_SECOND
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

// Kernel counters

/** Counts of resource refusals by the kernel. Null if the kernel does not report them. */
export interface KernelCounts {
  /** Out-of-memory kills in this control group. */
  outOfMemory: number | null
  /** Out-of-memory kills on the whole machine. */
  outOfMemoryAnywhere: number | null
  /** Failed forks in this control group. */
  noProcess: number | null
}

export class MachineFailed extends Error {
  override readonly name: string = 'MachineFailed'
}

/**
 * Compares the kernel's counters after a failed command. Ignores the command's own output: it could claim a
 * machine failure to be measured again. Null if the failure is the command's own.
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

const MACHINE_ERRORS: Readonly<Record<string, string>> = {
  EAGAIN: 'a process could not be started',
  ENOMEM: 'there was no memory left',
  EMFILE: 'too many files were open',
  ENFILE: 'too many files were open',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
}

/** Recognizes machine failures by their error codes. */
export function describeRunnerError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof MachineFailed) return formatMachineFailure(error.message)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const what = MACHINE_ERRORS[code]
  return what === undefined ? error.message : formatMachineFailure(`${what} (${error.message})`)
}

const CGROUPS = '/sys/fs/cgroup'

export function readKernelCounts(): KernelCounts {
  const groups = readKernelFile('/proc/self/cgroup') ?? ''
  const unified = /^0::(.*)$/m.exec(groups)?.[1] ?? '/'
  const findGroup = (controller: string) =>
    new RegExp(`^\\d+:(?:[^:]*,)?${controller}(?:,[^:]*)?:(.*)$`, 'm').exec(groups)?.[1]
  const inGroup = (file: string, controller: string, older: string) =>
    readKernelFile(join(CGROUPS, unified, file)) ??
    readKernelFile(join(CGROUPS, controller, findGroup(controller) ?? '/', older))
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
    // Kernel files may exist and refuse reads.
    if (isMissing(error) || isUnreachable(error) || hasErrorCode(error, 'EOPNOTSUPP', 'ENODEV')) return null
    throw error
  }
}

/** A file of a side is newer than now, so that a change to it could get the time that it has already. */
export class ClockSetBack extends MachineFailed {
  override readonly name: string = 'ClockSetBack'
  constructor(seconds: number) {
    super(`the clock was set back: files of a side are ${seconds} s newer than now`)
  }
}

// Free space

/** Only a full disk refuses a file of this size. */
const FULL_BYTES = 64 * 1024

export class DiskFull extends MachineFailed {
  override readonly name: string = 'DiskFull'
  constructor(what: 'space' | 'inode', dir: string) {
    super(`ENOSPC: no ${what} is left in the measuring directory ${dir}`)
  }
}

/**
 * After a failure, a full disk makes it a runner failure without a verdict, also if the harness's output was
 * cut short for lack of space (invariant 5). Ignores the harness's output: it could claim a full disk to be
 * measured again.
 */
export async function refuseFull(dir: string): Promise<void> {
  const what = findShortage(await statfs(dir), process.getuid?.() === 0)
  if (what !== null) throw new DiskFull(what, dir)
}

type FileSystemStats = Pick<StatsFs, 'bsize' | 'blocks' | 'bfree' | 'bavail' | 'files' | 'ffree'>

/** Null if there is room, or if the file system does not count. Root may use the reserved blocks. */
export function findShortage(room: FileSystemStats, root: boolean): 'space' | 'inode' | null {
  const { bsize, blocks, bfree, bavail, files, ffree } = room
  if (blocks > 0 && (root ? bfree : bavail) * bsize < FULL_BYTES) return 'space'
  return files > 0 && ffree === 0 ? 'inode' : null
}
