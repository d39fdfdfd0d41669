#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { createPublicRegistries } from '../dependencies/registries.ts'
import { createWebFetch } from '../github/web.ts'
import { VERSION } from '../version.ts'
import { getProgramCommand } from './environment.ts'
import { handleInterrupts, runCommandLine } from './run-command-line.ts'
import { canShowColour, canShowLiveLine, createTerminal, isAttended } from './terminal.ts'

/** `winnow log | head` closes stdout early. Exit without a stack trace. */
function exitOnBrokenPipe(error: Error): void {
  if ('code' in error && error.code === 'EPIPE') process.exit(0)
  throw error
}

async function runMain(): Promise<number> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const { stdin: input, stdout: out, stderr: err } = process
  out.on('error', exitOnBrokenPipe)
  const colour = { out: canShowColour(out, env), err: canShowColour(err, env) }
  const live = canShowLiveLine(err, env) ? err : null
  const [obeyed, attended] = [env['GITHUB_ACTIONS'] === 'true', isAttended([input, err], env)]
  const terminal = createTerminal({ input, out, err, colour, live, obeyed, attended })
  process.once('exit', () => terminal.live(null))
  if (process.platform === 'win32') {
    terminal.err('error: winnow runs on Linux and macOS; on Windows use it inside WSL.')
    return 2
  }
  const interrupted = handleInterrupts(line => terminal.err(line))
  const home = fileURLToPath(new URL('..', import.meta.url))
  const program = { called: getProgramCommand(process.argv[1] ?? '', env), runtime: process.execPath, home }
  const registries = createPublicRegistries({ web: createWebFetch(env) })
  const started = { env, directory: process.cwd(), pid: process.pid, version: VERSION, program, registries }
  try {
    return await runCommandLine(process.argv.slice(2), started, terminal, interrupted.signal)
  } finally {
    interrupted.release()
  }
}

process.exitCode = await runMain()
