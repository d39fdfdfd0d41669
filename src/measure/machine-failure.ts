import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatMachineFailure } from '../model/runner-error.ts'
import { isMissing } from './missing.ts'
import type { Ended } from './process/launch.ts'
import { isUnreachable } from './unreachable.ts'

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
