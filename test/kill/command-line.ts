import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { beforeAll } from 'vitest'

export interface Ended {
  code: number | null
  signal: string | null
  out: string
  err: string
}

/** Where a person stands, and what is theirs: the environment's HOME, which holds winnow's cache too. */
export interface Standing {
  repo: string
  home: string
}

export interface CommandLine {
  start(at: Standing, argv: readonly string[], env?: Record<string, string>): ChildProcess
  run(at: Standing, argv: readonly string[], env?: Record<string, string>): Promise<Ended>
}

let bundled: Promise<string> | null = null

/** Once for all files that this process tests. */
async function bundle(): Promise<string> {
  const dist = mkdtempSync(join(tmpdir(), 'winnow-kill-bundle-'))
  process.once('exit', () => rmSync(dist, { recursive: true, force: true }))
  const cwd = join(import.meta.dirname, '..', '..')
  const built = await rolldown({
    input: { cli: 'src/cli/main.ts' },
    platform: 'node',
    logLevel: 'silent',
    cwd,
  })
  await built.write({ dir: dist, format: 'esm', entryFileNames: '[name].js' })
  await built.close()
  return dist
}

/** The command line as it is shipped, in one file, bundled anew for these tests. */
export function bundledCommandLine(): CommandLine {
  let dist = ''
  beforeAll(async () => {
    dist = await (bundled ??= bundle())
  })

  const start: CommandLine['start'] = ({ repo, home }, argv, env = {}) => {
    const own = { PATH: process.env['PATH'] ?? '', HOME: home, USER: 'ada', TMPDIR: home, ...env }
    const args = [join(dist, 'cli.js'), ...argv, '--cache-dir', join(home, 'cache')]
    return spawn(process.execPath, args, { cwd: repo, env: own, stdio: ['ignore', 'pipe', 'pipe'] })
  }
  return { start, run: (...how) => ended(start(...how)) }
}

/** Resolves when the process has ended, whatever it left behind. */
export async function ended(child: ChildProcess): Promise<Ended> {
  let out = ''
  let err = ''
  child.stdout?.on('data', chunk => (out += String(chunk)))
  child.stderr?.on('data', chunk => (err += String(chunk)))
  await once(child, 'exit')
  child.stdout?.destroy()
  child.stderr?.destroy()
  return { code: child.exitCode, signal: child.signalCode, out, err }
}
