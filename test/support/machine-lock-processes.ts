import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

export interface LockProcess {
  process: ChildProcess
  /** Resolves with the first line it says from now on that has this in it. */
  says(part: string): Promise<string>
  /** Lets one that holds its turn go on. */
  release(): Promise<void>
  kill(): Promise<void>
  ended: Promise<number | null>
}

export interface LockProcessOptions {
  machineDir: string
  log: string
  name: string
  how: 'alone' | 'beside'
  times: number | 'hold'
}

/** Processes of their own that take turns on this machine; whoever is left when the tests end is ended. */
export function createLockProcesses(): (taking: LockProcessOptions) => LockProcess {
  let folder = ''
  const started: ChildProcess[] = []
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'winnow-turns-'))
    await build({
      input: fileURLToPath(new URL('machine-lock-process.ts', import.meta.url)),
      platform: 'node',
      output: { file: join(folder, 'machine-lock-process.mjs'), format: 'esm', codeSplitting: false },
      logLevel: 'silent',
    })
  })
  afterAll(() => {
    for (const child of started) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  return ({ machineDir, log, name, how, times }) => {
    const args = [join(folder, 'machine-lock-process.mjs'), machineDir, log, name, how, String(times)]
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    started.push(child)
    return readLockProcess(child)
  }
}

function readLockProcess(child: ChildProcess): LockProcess {
  const ended = once(child, 'exit').then(([code]: unknown[]) => (typeof code === 'number' ? code : null))
  const lines: string[] = []
  let wake: () => void = () => {}
  child.stdout?.on('data', chunk => {
    lines.push(...String(chunk).trimEnd().split('\n'))
    wake()
  })
  return {
    process: child,
    ended,
    async says(part) {
      for (;;) {
        const found = lines.findIndex(line => line.includes(part))
        if (found >= 0) return lines.splice(found, 1).join('')
        await new Promise<void>(resolve => (wake = resolve))
      }
    },
    async release() {
      child.stdin?.write('go\n')
      await ended
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
