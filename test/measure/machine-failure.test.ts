import { describe, expect, it } from 'vitest'
import {
  DiskFull,
  describeRunnerError,
  detectMachineFailure,
  type KernelCounts,
  parseKernelCount,
  readKernelCounts,
} from '../../src/measure/machine.ts'
import { appendAttempts, formatRunnerError } from '../../src/model/report.ts'

const QUIET: KernelCounts = { outOfMemory: 0, outOfMemoryAnywhere: 7, noProcess: 2 }
const KILLED = { exitCode: null, signal: 'SIGKILL', timedOut: false }
const FAILED = { exitCode: 1, signal: null, timedOut: false }

describe('a command that has failed', () => {
  it('is blamed on the machine where the kernel ended a process for lack of memory', () => {
    const memory = 'the kernel ended a process for lack of memory'
    expect(detectMachineFailure(QUIET, { ...QUIET, outOfMemory: 1 }, FAILED)).toBe(memory)
    expect(detectMachineFailure(QUIET, { ...QUIET, outOfMemoryAnywhere: 8 }, KILLED)).toBe(memory)
    expect(
      detectMachineFailure(QUIET, { ...QUIET, outOfMemoryAnywhere: 8 }, { ...FAILED, exitCode: 137 }),
    ).toBe(memory)
  })

  it('is blamed on the machine where no process could be started', () => {
    expect(detectMachineFailure(QUIET, { ...QUIET, noProcess: 3 }, FAILED)).toContain('fork: EAGAIN')
  })

  it('is its own failure otherwise', () => {
    expect(detectMachineFailure(QUIET, QUIET, KILLED)).toBeNull()
    expect(detectMachineFailure(QUIET, { ...QUIET, outOfMemoryAnywhere: 8 }, FAILED)).toBeNull()
    expect(
      detectMachineFailure(QUIET, { ...QUIET, outOfMemoryAnywhere: 8 }, { ...KILLED, timedOut: true }),
    ).toBeNull()
    const unknown = { outOfMemory: null, outOfMemoryAnywhere: null, noProcess: null }
    expect(detectMachineFailure(unknown, { ...QUIET, outOfMemory: 4 }, KILLED)).toBeNull()
  })
})

describe("the kernel's counters", () => {
  it('are read where the kernel has them', () => {
    const found = readKernelCounts()
    for (const count of Object.values(found)) expect(count === null || count >= 0).toBe(true)
    expect(parseKernelCount('low 0\noom_kill 3\noom_group_kill 9\n', 'oom_kill')).toBe(3)
    expect(parseKernelCount(null, 'oom_kill')).toBeNull()
  })
})

describe('a runner failure', () => {
  const failing = (code: string) => Object.assign(new Error(`spawn sh ${code}`), { code })

  it('names the machine for error codes of processes, memory, files and disk', () => {
    for (const code of ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE', 'ENOSPC', 'EDQUOT'])
      expect(describeRunnerError(failing(code))).toMatch(
        /^this machine failed, not your code: .* \(spawn sh E/,
      )
    expect(describeRunnerError(new DiskFull('space', '/tmp'))).toBe(
      'this machine failed, not your code: ENOSPC: no space is left in the measuring directory /tmp',
    )
    expect(describeRunnerError(failing('ENOENT'))).toBe('spawn sh ENOENT')
  })

  it('is worded with less certainty after the last attempt', () => {
    const full = describeRunnerError(failing('ENOSPC'))
    expect(formatRunnerError(full)).toBe(full)
    expect(formatRunnerError('no git')).toBe('the runner failed: no git')
    expect(appendAttempts(full, 3)).toBe(
      'the machine failed each time: the disk is full (spawn sh ENOSPC) (3 attempts)',
    )
    expect(appendAttempts('no git', 3)).toBe('no git (3 attempts)')
  })
})
