import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { getBootId } from '../../src/measure/machine.ts'
import {
  claimWorkDir,
  endLeftovers,
  findProcess,
  noteSupervisor,
  releaseWorkDir,
} from '../../src/measure/process/leftovers.ts'
import { carrying } from './processes.ts'
import { scratch } from './scratch.ts'

const GONE = { pid: 2 ** 22 - 1, started: '1' }

function sleeping(env: Record<string, string> = {}) {
  const mark = join(scratch(), 'mark')
  const child = spawn('sh', ['-c', `sleep 1000; : ${mark}`], { detached: true, stdio: 'ignore', env })
  child.unref()
  return { pid: child.pid ?? 0, mark }
}

async function identity(pid: number) {
  const found = await findProcess(pid)
  return { pid, started: found?.started ?? '' }
}

describe('a work directory that a killed winnow left', () => {
  test('its supervisor is ended, and with it all it held', async () => {
    const workDir = scratch()
    const { pid, mark } = sleeping()
    const record = { boot_id: getBootId(), owner: GONE, supervisor: await identity(pid) }
    writeFileSync(join(workDir, 'running.json'), JSON.stringify(record))
    expect(await endLeftovers(workDir)).toBeGreaterThanOrEqual(1)
    await vi.waitFor(() => expect(carrying(mark)).toEqual([]), 60_000)
    expect(await endLeftovers(workDir)).toBe(0)
  })

  test.runIf(process.platform === 'linux')('what lost its supervisor is found by its mark', async () => {
    const workDir = scratch()
    const { mark } = sleeping({ PATH: process.env['PATH'] ?? '', WINNOW_OUT_DIR: join(workDir, 'at', 'out') })
    const other = sleeping({ PATH: process.env['PATH'] ?? '', WINNOW_OUT_DIR: '/elsewhere/at/out' })
    const record = { boot_id: getBootId(), owner: GONE, supervisor: null }
    writeFileSync(join(workDir, 'running.json'), JSON.stringify(record))
    await endLeftovers(workDir)
    await vi.waitFor(() => expect(carrying(mark)).toEqual([]), 60_000)
    expect(carrying(other.mark)).not.toEqual([])
    process.kill(-other.pid, 'SIGKILL')
  })

  test('a number that another process has by now is left alone', async () => {
    const workDir = scratch()
    const { pid, mark } = sleeping()
    const record = { boot_id: getBootId(), owner: GONE, supervisor: { pid, started: 'another time' } }
    writeFileSync(join(workDir, 'running.json'), JSON.stringify(record))
    expect(await endLeftovers(workDir)).toBe(0)
    expect(carrying(mark)).not.toEqual([])
    process.kill(-pid, 'SIGKILL')
  })

  test('after the machine was started anew nothing of it lives', async () => {
    const workDir = scratch()
    const { pid, mark } = sleeping()
    const record = { boot_id: 'an earlier start', owner: GONE, supervisor: await identity(pid) }
    writeFileSync(join(workDir, 'running.json'), JSON.stringify(record))
    expect(await endLeftovers(workDir)).toBe(0)
    expect(carrying(mark)).not.toEqual([])
    process.kill(-pid, 'SIGKILL')
  })

  test('a record that was cut short is as good as none', async () => {
    const workDir = scratch()
    writeFileSync(join(workDir, 'running.json'), '{"boot_')
    expect(await endLeftovers(workDir)).toBe(0)
  })
})

describe('a work directory in use', () => {
  test('is refused to another process while its owner lives', async () => {
    const workDir = scratch()
    const { pid } = sleeping()
    const record = { boot_id: getBootId(), owner: await identity(pid), supervisor: null }
    writeFileSync(join(workDir, 'running.json'), JSON.stringify(record))
    await expect(claimWorkDir(workDir)).rejects.toThrow(`in use by process ${pid}`)
    process.kill(-pid, 'SIGKILL')
    await vi.waitFor(async () => expect(await findProcess(pid)).toBeNull(), 60_000)
    await claimWorkDir(workDir)
    await releaseWorkDir(workDir)
  })

  test('names the supervisor that runs in it', async () => {
    const workDir = scratch()
    const { pid } = sleeping()
    await claimWorkDir(workDir)
    await noteSupervisor(workDir, pid)
    const record: unknown = JSON.parse(readFileSync(join(workDir, `running-${process.pid}.json`), 'utf8'))
    expect(record).toMatchObject({ owner: { pid: process.pid }, supervisor: { pid } })
    process.kill(-pid, 'SIGKILL')
  })
})
