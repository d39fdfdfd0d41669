import { spawn } from 'node:child_process'
import { chmodSync, closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { UserError } from '../errors.ts'
import { removeSecrets } from '../measure/environment.ts'
import type { Spec } from '../spec/schema.ts'
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

/**
 * A token as it goes over the wire and as it is told to git: without what base64 ends with, so that whatever
 * follows it is no other form of it.
 */
export function listTokenForms(token: string): string[] {
  return [token, toBase64(token), toBase64(`x-access-token:${token}`)]
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64').replace(/=+$/, '')
}

const DOCKER = '/var/run/docker.sock'
const OTHERS = ['/run/containerd/containerd.sock', '/var/snap/lxd/common/lxd/unix.socket']
/** Read last, so that it holds whatever stands before. */
const SUDOERS = '/etc/sudoers.d/zz-winnow'

/** A machine of GitHub's, made for this job and thrown away after it. */
export function isHosted({ RUNNER_ENVIRONMENT }: ActionEnv): boolean {
  return RUNNER_ENVIRONMENT === 'github-hosted' && process.platform === 'linux'
}

/**
 * What the job's user could become root by, and as root read the memory of the runner: gone before anything of an
 * experiment runs as that user, and before anything comes after one that ran as another. Who stops service containers at
 * the end of the job speaks to Docker's socket; it stays where nothing says that there are none.
 */
export function dropRoot(env: ActionEnv, uid: number, services: Spec['execution']['services'] | null): void {
  if (!isHosted(env) || uid === 0) return
  const unused = services !== null && Object.keys(services).length === 0
  const sockets = unused ? [DOCKER, ...OTHERS] : OTHERS
  for (const socket of sockets) if (existsSync(socket)) chmodSync(socket, 0o600)
  writeFileSync(SUDOERS, `#${uid} ALL=(ALL:ALL) !ALL\n`)
}
