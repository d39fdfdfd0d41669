import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { UserError } from '../errors.ts'
import { removeSecrets } from '../measure/secret-names.ts'
import type { ActionEnv } from './inputs.ts'

/**
 * Invariant 6: experiment code has our user id, and reads the environment of any process of it under /proc. So no
 * process that lives beside it may have been started with a secret: this one becomes the program (node 24), or
 * wipes what it was started with and waits for it (node 20). `handed` is what the program is to have all the same.
 */
export async function dropSecrets(
  program: string,
  argument: string,
  env: ActionEnv,
  handed: ActionEnv = {},
): Promise<number> {
  const argv = [process.execPath, program, argument]
  const clean = { ...removeSecrets(env), ...handed }
  const execve: unknown = Reflect.get(process, 'execve')
  if (typeof execve === 'function') Reflect.apply(execve, process, [process.execPath, argv, clean])
  wipeEnvironment()
  return runChild(argv, clean)
}

/** In place, where the kernel shows it: nothing else in this process reads it any more. */
export function wipeEnvironment(): void {
  if (process.platform !== 'linux') {
    throw new UserError('secrets of this step cannot be kept from experiment code here', {
      fix: 'run the action on its own node 24, or on Linux',
    })
  }
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // After the name in brackets, which may hold anything: the addresses where the environment begins and ends.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [start, end] = [Number(fields[47]), Number(fields[48])]
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    writeSync(memory, Buffer.alloc(end - start), 0, end - start, start)
  } finally {
    closeSync(memory)
  }
  if (/[^\0]/.test(readFileSync('/proc/self/environ', 'latin1')))
    throw new Error('the environment of this process could not be wiped')
}

function runChild([file = '', ...args]: string[], env: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, stdio: 'inherit' })
    const forward = (signal: NodeJS.Signals) => child.kill(signal)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, forward)
    child.once('error', reject)
    child.once('exit', code => resolve(code ?? 130))
  })
}
