import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { expect, it, onTestFinished } from 'vitest'
import { getBootId } from '../../src/measure/machine.ts'

const PROCESSES = 4
const ROUNDS = 25

it('two processes never get the same work directory, even after a killed one left its claim', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winnow-work-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const program = join(folder, 'work-dir-process.mjs')
  await build({
    input: fileURLToPath(new URL('work-dir-process.ts', import.meta.url)),
    platform: 'node',
    output: { file: program, format: 'esm', codeSplitting: false },
    logLevel: 'silent',
  })
  const [under, log] = [join(folder, 'work'), join(folder, 'log')]
  mkdirSync(join(under, '0'), { recursive: true })
  const dead = { boot_id: getBootId(), owner: { pid: 2 ** 22 - 1, started: '1' }, supervisor: null }
  writeFileSync(join(under, '0', `running-${dead.owner.pid}.json`), JSON.stringify(dead))
  const args = [program, under, log, String(ROUNDS)]
  const processes = Array.from({ length: PROCESSES }, () =>
    spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  const ended = processes.map(child => once(child, 'exit'))
  await Promise.all(processes.map(child => once(child.stdout, 'data')))
  for (const child of processes) child.stdin.write('go\n')
  expect((await Promise.all(ended)).map(([code]: unknown[]) => code)).toEqual(Array(PROCESSES).fill(0))
  const inside = new Map<string, string>()
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  expect(lines).toHaveLength(2 * PROCESSES * ROUNDS)
  for (const line of lines) {
    const [what, directory = '', pid = ''] = line.split(' ')
    expect([line, inside.get(directory) ?? pid]).toEqual([line, pid])
    if (what === 'in') inside.set(directory, pid)
    else inside.delete(directory)
  }
})
