import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { acquireMachineLock, isTimedElsewhere } from '../../src/engine/jobs/machine-lock.ts'
import { scratch } from '../git/scratch.ts'
import { createLockProcesses } from '../support/machine-lock-processes.ts'

const take = createLockProcesses()

function ground() {
  const machineDir = join(scratch('winnow-machine-'), 'machine')
  const log = join(scratch('winnow-log-'), 'log')
  writeFileSync(log, '')
  const left = () => readdirSync(machineDir).flatMap(name => readdirSync(join(machineDir, name)))
  return { machineDir, log, left, lines: () => readFileSync(log, 'utf8').trimEnd().split('\n') }
}

/** Who was in beside whom, in the order in which they wrote it down. */
function meetings(lines: readonly string[]): string[][] {
  const inside = new Set<string>()
  const met: string[][] = []
  for (const line of lines) {
    const [what = '', name = ''] = line.split(' ')
    if (what === 'in') inside.add(name)
    else inside.delete(name)
    met.push([...inside])
  }
  return met
}

describe('processes that measure on one machine', () => {
  it('never time anything at the same time', async () => {
    const { log, left, lines, machineDir } = ground()
    const hows = ['alone', 'beside', 'alone', 'beside'] as const
    const takers = hows.map((how, at) => take({ machineDir, log, name: `${how}${at}`, how, times: 12 }))
    expect(await Promise.all(takers.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
    const crowds = meetings(lines()).filter(inside => inside.length > 1)
    expect(crowds.filter(inside => inside.some(name => name.startsWith('alone')))).toEqual([])
    expect(lines()).toHaveLength(2 * 4 * 12)
    expect(left()).toEqual([])
  })

  it('run deterministic orders at the same time', async () => {
    const { log, lines, machineDir } = ground()
    const [one, two] = ['one', 'two'].map(name =>
      take({ machineDir, log, name, how: 'beside', times: 'hold' }),
    )
    await Promise.all([one?.says('in'), two?.says('in')])
    expect(meetings(lines()).at(-1)?.toSorted()).toEqual(['one', 'two'])
  })

  it('name the process that they wait for, and continue when it leaves', async () => {
    const { log, lines, machineDir } = ground()
    const holder = take({ machineDir, log, name: 'parser', how: 'alone', times: 'hold' })
    await holder.says('in')
    const waiter = take({ machineDir, log, name: 'size', how: 'beside', times: 1 })
    expect(await waiter.says('waiting')).toBe(
      `waiting for process ${holder.process.pid} (campaign parser), which is measuring: timing is never measured in parallel on one machine`,
    )
    await holder.release()
    expect(await waiter.ended).toBe(0)
    expect(lines()).toEqual(['in parser', 'out parser', 'in size', 'out size'])
  })

  it('take over the lock of a killed process, and leave no file of it', async () => {
    const { log, lines, left, machineDir } = ground()
    const holder = take({ machineDir, log, name: 'killed', how: 'alone', times: 'hold' })
    await holder.says('in')
    const waiters = ['one', 'two', 'three'].map(name =>
      take({ machineDir, log, name, how: 'alone', times: 1 }),
    )
    await Promise.all(waiters.map(waiter => waiter.says('waiting')))
    await holder.kill()
    expect(await Promise.all(waiters.map(({ ended }) => ended))).toEqual([0, 0, 0])
    const after = meetings(lines().filter(line => !line.endsWith('killed')))
    expect(after.every(inside => inside.length <= 1)).toBe(true)
    expect(left()).toEqual([])
  })

  it('do not wait for a process that was killed while it arrived', async () => {
    const { left, machineDir, log } = ground()
    const gone = take({ machineDir, log, name: 'gone', how: 'alone', times: 1 })
    await gone.ended
    const [folder = ''] = readdirSync(machineDir)
    const dead = { run_id: 'local:an-earlier-boot:1:1', pid: 1, alone: true, what: 'x', number: 0 }
    mkdirSync(join(machineDir, folder), { recursive: true })
    writeFileSync(join(machineDir, folder, 'dead.arriving'), JSON.stringify(dead))
    const leave = await acquireMachineLock(
      machineAt(machineDir),
      { alone: true, what: 'x' },
      new AbortController().signal,
    )
    expect(left()).toHaveLength(1)
    leave?.()
    expect(left()).toEqual([])
  })
})

const machineAt = (machineDir: string, say: (line: string) => void = () => {}) => ({
  machineDir,
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: () => new Promise<void>(resolve => setImmediate(resolve)),
  },
  random: { hex: (bytes: number) => randomBytes(bytes).toString('hex'), fraction: () => Math.random() },
  progress: { say },
})

describe('a lock directory that cannot be created', () => {
  const closed = () => {
    const file = join(scratch('winnow-closed-'), 'file')
    writeFileSync(file, '')
    return join(file, 'machine')
  }
  const elsewhere = (directory: string) => {
    vi.stubEnv('TMPDIR', directory)
    onTestFinished(() => void vi.unstubAllEnvs())
  }

  it('is replaced by one below the temporary directory, which all processes use', async () => {
    const [first, second, third] = [closed(), closed(), closed()]
    elsewhere(scratch('winnow-tmp-'))
    const wish = { alone: true, what: 'x' }
    const leave = await acquireMachineLock(machineAt(first), wish, new AbortController().signal)
    expect(leave).not.toBeNull()
    expect(await isTimedElsewhere({ machineDir: second })).toBe(true)
    const [shared = ''] = readdirSync(join(tmpdir(), `winnow-${process.getuid?.() ?? 'user'}`))
    const earlier = scratch('winnow-earlier-')
    mkdirSync(join(earlier, shared))
    expect(await isTimedElsewhere({ machineDir: earlier })).toBe(true)
    const abort = new AbortController()
    const waiting = machineAt(third, () => abort.abort())
    expect(await acquireMachineLock(waiting, wish, abort.signal)).toBeNull()
    leave?.()
  })

  it('is named when the other one cannot be created either', async () => {
    const [first, second] = [closed(), closed()]
    elsewhere(second)
    const taking = acquireMachineLock(
      machineAt(first),
      { alone: true, what: 'x' },
      new AbortController().signal,
    )
    await expect(taking).rejects.toThrow(/^winnow cannot keep its machine lock: ENOTDIR.*; ENOTDIR/)
  })
})

describe('a damaged lock file', () => {
  it('locks nothing', async () => {
    const { machineDir } = ground()
    const wish = { alone: true, what: 'x' }
    const leave = await acquireMachineLock(machineAt(machineDir), wish, new AbortController().signal)
    const [folder = ''] = readdirSync(machineDir)
    for (const name of ['a.turn', 'a.arriving']) writeFileSync(join(machineDir, folder, name), '')
    leave?.()
    const next = await acquireMachineLock(machineAt(machineDir), wish, new AbortController().signal)
    expect(next).not.toBeNull()
    next?.()
  })
})

describe('a process that waits for the lock', () => {
  it('gives up when it is interrupted, and no longer blocks others', async () => {
    const { machineDir, left } = ground()
    const wish = { alone: true, what: 'x' }
    const leave = await acquireMachineLock(machineAt(machineDir), wish, new AbortController().signal)
    const abort = new AbortController()
    const told: string[] = []
    const machine = machineAt(machineDir, line => {
      told.push(line)
      abort.abort()
    })
    expect(await acquireMachineLock(machine, wish, abort.signal)).toBeNull()
    expect(told).toHaveLength(1)
    expect(left()).toHaveLength(1)
    leave?.()
  })

  it('polls at most once a second', async () => {
    const { machineDir } = ground()
    const wish = { alone: true, what: 'x' }
    const leave = await acquireMachineLock(machineAt(machineDir), wish, new AbortController().signal)
    const slept: number[] = []
    const machine = machineAt(machineDir)
    const clock = {
      ...machine.clock,
      async sleep(ms: number) {
        if (slept.push(ms) === 3) leave?.()
      },
    }
    const second = await acquireMachineLock({ ...machine, clock }, wish, new AbortController().signal)
    second?.()
    expect(slept).toEqual([1_000, 1_000, 1_000])
  })
})
