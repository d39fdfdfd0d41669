import { describe, expect, test } from 'vitest'
import { chooseSupervisor } from '../../src/measure/process/supervisor.ts'
import { findDescendants, listProcesses } from '../../src/measure/process/leftovers.ts'
import { readStatus } from '../../src/measure/process/launch.ts'

const monotonic = () => performance.now()

describe('how commands are supervised', () => {
  test('is tried once a process, and the first way that works is taken', async () => {
    const first = chooseSupervisor({ owner: null, monotonic })
    expect(chooseSupervisor({ owner: null, monotonic })).toBe(first)
    const strategies = ['pid-namespace', 'shell-namespace', 'subreaper', 'group']
    expect(strategies).toContain((await first).strategy)
  })

  test.runIf(process.getuid?.() === 0)('a user that was asked for is used', async () => {
    const { strategy } = await chooseSupervisor({ owner: { uid: 64_323, gid: 64_323 }, monotonic })
    expect(strategy).toBe('uid')
  })

  test('a user that cannot be used is an error, never something weaker', async () => {
    const choose = () => chooseSupervisor({ owner: { uid: 0, gid: 0 }, monotonic })
    const choosing = choose()
    await expect(choosing).rejects.toMatchObject({ name: 'UserError' })
    const again = choose()
    expect(again).not.toBe(choosing)
    await expect(again).rejects.toMatchObject({ name: 'UserError' })
  })
})

describe('the process table', () => {
  test('knows this process and whose child it is', async () => {
    const table = await listProcesses()
    const self = table.find(entry => entry.pid === process.pid)
    expect(self?.ppid).toBe(process.ppid)
    expect(self?.started).not.toBe('')
    expect(findDescendants(table, new Set([process.ppid])).map(entry => entry.pid)).toContain(process.pid)
  })
})

describe('a wait status', () => {
  test.each([
    [0, { exitCode: 0, signal: null }],
    [3 << 8, { exitCode: 3, signal: null }],
    [9, { exitCode: null, signal: 'SIGKILL' }],
    [11 | 0x80, { exitCode: null, signal: 'SIGSEGV' }],
    [63, { exitCode: null, signal: 'signal 63' }],
  ])('%i', (status, read) => {
    expect(readStatus(status)).toEqual(read)
  })
})
