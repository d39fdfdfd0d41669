#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { publicRegistries } from '../dependencies/registries.ts'
import { webOf } from '../forge/web.ts'
import { calledAs } from './called-as.ts'
import { command } from './command.ts'
import { interruption } from './interrupt.ts'
import { wantsLiveLine } from './live-line.ts'
import { isAttended, terminal, wantsColour } from './terminal.ts'
import { VERSION } from '../version.ts'

/** A reader that went away (`winnow log | head`) wants no more, and no stack either. */
function endQuietly(error: Error): void {
  if ('code' in error && error.code === 'EPIPE') process.exit(0)
  throw error
}

async function main(): Promise<number> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  const { stdin: input, stdout: out, stderr: err } = process
  out.on('error', endQuietly)
  const colour = { out: wantsColour(out, env), err: wantsColour(err, env) }
  const live = wantsLiveLine(err, env) ? err : null
  const [obeyed, attended] = [env['GITHUB_ACTIONS'] === 'true', isAttended([input, err], env)]
  const words = terminal({ input, out, err, colour, live, obeyed, attended })
  process.once('exit', () => words.live(null))
  if (process.platform === 'win32') {
    words.err('error: winnow runs on Linux and macOS; on Windows use it inside WSL.')
    return 2
  }
  const interrupted = interruption(line => words.err(line))
  const home = fileURLToPath(new URL('..', import.meta.url))
  const program = { called: calledAs(process.argv[1] ?? '', env), runtime: process.execPath, home }
  const registries = publicRegistries({ version: VERSION, web: webOf(env) })
  const started = { env, directory: process.cwd(), pid: process.pid, version: VERSION, program, registries }
  try {
    return await command(process.argv.slice(2), started, words, interrupted.signal)
  } finally {
    interrupted.release()
  }
}

process.exitCode = await main()
