import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { watchResources } from '../../src/measure/resource-watch.ts'
import { describeResourceConflicts } from '../../src/report/check-trial.ts'
import { winnowSpec } from '../spec/problems-of.ts'
import { scratch } from './scratch.ts'

const HOLDS = `
const fs = require('node:fs')
fs.openSync(process.argv[2], 'w')
fs.openSync(process.argv[3], 'r')
fs.openSync(process.argv[4], 'w')
const server = require('node:net').createServer().listen(0, '127.0.0.1', () => console.log(server.address().port))
`

describe.skipIf(!existsSync('/proc/self/fd'))('what a harness holds while it runs', () => {
  it('is seen: its ports, and files it writes outside its own copy', async () => {
    const workDir = scratch()
    const elsewhere = scratch()
    const [script, lock, read, own] = ['hold.cjs', 'app.lock', 'input', 'own']
    for (const name of [script, read]) writeFileSync(join(elsewhere, name), name === script ? HOLDS : '')
    const watch = watchResources(workDir)
    const files = [join(elsewhere, lock), join(elsewhere, read), join(workDir, own)]
    const env = { PATH: process.env['PATH'] ?? '', WINNOW_OUT_DIR: join(workDir, 'at', 'out') }
    const harness = spawn('node', [join(elsewhere, script), ...files], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void harness.kill('SIGKILL'))
    const printed: string[] = []
    harness.stdout.on('data', chunk => printed.push(String(chunk)))
    const held = await vi.waitFor(
      () => {
        const now = watch.look()
        if (now.ports.length === 0 || printed.length === 0) throw new Error('not yet')
        return now
      },
      { timeout: 20_000, interval: 20 },
    )
    watch.end()
    expect(held).toEqual({
      ports: [Number(printed.join('').trim())],
      files: [join(elsewhere, lock)],
      devices: [],
    })
  })
})

describe('what is said of it', () => {
  const HELD = { ports: [3000], files: ['/tmp/app.lock'], devices: ['/dev/nvidia0'] }

  it('names what was seen, and the keys that keep executions apart', () => {
    expect(describeResourceConflicts(HELD, winnowSpec())).toEqual([
      expect.stringMatching(
        /^it listened on 1 port \(3000\): .*parallel\.port_env_var.*execution\.mode: serial$/,
      ),
      expect.stringMatching(/^it used \/dev\/nvidia0: parallel\.exclusive_resources/),
      expect.stringMatching(/^it wrote outside its own copy \(\/tmp\/app\.lock\): such files are shared/),
    ])
    const parameterized = { 'parallel.port_strategy': 'parameterized', 'parallel.port_base': 4000 }
    expect(describeResourceConflicts({ ...HELD, files: [], devices: [] }, winnowSpec(parameterized))).toEqual(
      [],
    )
  })

  it("is nothing of Go's build cache, which names files by what is in them", () => {
    const cached = `/home/ada/.cache/go-build/2a/2a${'0'.repeat(62)}-a`
    const held = (files: string[]) =>
      describeResourceConflicts({ ports: [], files, devices: [] }, winnowSpec())
    expect(held([cached])).toEqual([])
    expect(held([cached, '/home/ada/.cache/go-build/mine'])).toEqual([
      expect.stringContaining('(/home/ada/.cache/go-build/mine)'),
    ])
  })

  it('is nothing where executions never run side by side', () => {
    expect(describeResourceConflicts(HELD, winnowSpec({ 'execution.mode': 'serial' }))).toEqual([])
    expect(describeResourceConflicts({ ports: [40_000], files: [], devices: [] }, winnowSpec())).toEqual([])
  })
})
