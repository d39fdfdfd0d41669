import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { UserError } from '../errors.ts'
import { removeSecrets } from '../measure/environment.ts'
import type { Spec } from '../spec/schema.ts'
import type { ActionEnv } from './inputs.ts'

// First arguments of a program that another process starts with a pipe

/** First argument of a program that runs as root and reads its task from a pipe. */
export const AS_ROOT = 'as-root'
/** First argument of a program that runs as its parent's user and reads its task from a pipe. */
export const BY_PIPE = 'by-pipe'

/**
 * Invariant 6: experiment code runs with our user id and can read the environment of our processes under
 * /proc. So no process that runs beside it may have been started with a secret. This process becomes the
 * program (node 24), or wipes its own environment and waits for the program (node 20). The program gets
 * `extraEnv` in addition to the scrubbed environment.
 */
export async function dropSecrets(
  program: string,
  argument: string,
  env: ActionEnv,
  extraEnv: ActionEnv = {},
): Promise<number> {
  const argv = [process.execPath, program, argument]
  const clean = { ...removeSecrets(env), ...extraEnv }
  const execve: unknown = Reflect.get(process, 'execve')
  if (typeof execve === 'function') Reflect.apply(execve, process, [process.execPath, argv, clean])
  wipeEnvironment()
  return runChild(argv, clean)
}

/** Overwrites /proc/self/environ. No other code in this process reads it after this. */
export function wipeEnvironment(): void {
  if (process.platform !== 'linux') {
    throw new UserError('winnow cannot hide the secrets of this step from experiment code on this runner', {
      fix: 'run the action on its own node 24, or on Linux',
    })
  }
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // The name in brackets may hold any character, so fields are counted after it: start and end address of the
  // environment.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [start, end] = [Number(fields[47]), Number(fields[48])]
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    writeSync(memory, Buffer.alloc(end - start), 0, end - start, start)
  } finally {
    closeSync(memory)
  }
  if (/[^\0]/.test(readFileSync('/proc/self/environ', 'latin1')))
    throw new Error('winnow could not remove the secrets from the environment of its process')
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

/** Lists a token as it is sent and as git gets it. No padding: each form also matches inside more text. */
export function listTokenForms(token: string): string[] {
  return [token, toBase64(token), toBase64(`x-access-token:${token}`)]
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}

// Sudo and container sockets

const DOCKER = '/var/run/docker.sock'
const OTHER_SOCKETS = ['/run/containerd/containerd.sock', '/var/snap/lxd/common/lxd/unix.socket']
/** sudo reads this file last, so it overrides all other rules. */
const SUDOERS = '/etc/sudoers.d/zz-winnow'

export function isHosted({ RUNNER_ENVIRONMENT }: ActionEnv): boolean {
  return RUNNER_ENVIRONMENT === 'github-hosted' && process.platform === 'linux'
}

/**
 * Removes the ways by which the job's user could become root and read the runner's memory. Runs before
 * experiment code of the same user starts, or before the steps after one that ran as another user. The runner
 * stops service containers through Docker's socket, so that socket stays open unless the spec names no
 * services.
 */
export function dropRoot(env: ActionEnv, uid: number, services: Spec['execution']['services'] | null): void {
  if (!isHosted(env) || uid === 0) return
  const unused = services !== null && Object.keys(services).length === 0
  const sockets = unused ? [DOCKER, ...OTHER_SOCKETS] : OTHER_SOCKETS
  for (const socket of sockets) if (existsSync(socket)) chmodSync(socket, 0o600)
  writeFileSync(SUDOERS, `#${uid} ALL=(ALL:ALL) !ALL\n`)
}
