import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import { isMissing } from '../measure/file-system.ts'
import { makeAccessible } from '../measure/isolation/access-check.ts'
import { CLOSED_DIR, listSideUsers, type MissingUsers, SIDES_DIR } from '../measure/isolation/side-users.ts'
import { digestSchema } from '../model/ids.ts'
import { AS_ROOT, BY_PIPE, isHosted, wipeEnvironment } from './drop-secrets.ts'
import type { ActionEnv, Inputs } from './inputs.ts'
import { getTempDir } from './job.ts'

interface RootStart {
  /** The environment of this step. Decides how the program can be started. */
  env: ActionEnv
  /** Variables that the program gets through its pipe. */
  programEnv: ActionEnv
}

/**
 * Starts the program as root where side users exist and root is available; no experiment code runs as root.
 * Returns the exit code, or why the program did not measure. After that, a job on a GitHub-hosted machine can
 * no longer become root.
 */
export async function runAsRoot(
  program: string,
  task: unknown,
  { env, programEnv }: RootStart,
): Promise<number | MissingUsers> {
  const listed = listSideUsers()
  const root = process.getuid?.() === 0
  const open = !root && canSudo(env)
  // Without side users the program measures nothing. It still starts where it has to drop sudo.
  if ('what' in listed && !(open && isHosted(env))) return listed
  if (!root && !open)
    return { what: 'the job cannot become root', fix: 'let its user run sudo without a password' }
  const folder = mkdtempSync(join(getTempDir(env), 'winnow-root-'))
  try {
    const argv = [...(root ? [] : SUDO), process.execPath, ...process.execArgv, program, AS_ROOT]
    const code = await runWithPipe(argv, env, { task, room: folder, env: programEnv })
    const why = readReturnReason(folder)
    // Without an answer the program has failed and has printed why.
    const answered = why !== null || code === 0
    if (answered && !root && isHosted(env) && canSudo(env))
      throw new UserError('winnow could not drop its sudo rights')
    if (why === null) return code
    return { what: why, fix: 'fix that on the runner, or set measurement.isolation: none' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The token travels in the pipe: other processes can read arguments and environments. */
export function runThroughPipe(
  program: string,
  task: unknown,
  { env, programEnv }: RootStart,
): Promise<number> {
  return runWithPipe([process.execPath, ...process.execArgv, program, BY_PIPE], env, {
    task,
    room: tmpdir(),
    env: programEnv,
  })
}

const SUDO = ['sudo', '--non-interactive', '--'] as const

function canSudo({ PATH = '/usr/bin:/bin' }: ActionEnv): boolean {
  return spawnSync('sudo', ['--non-interactive', 'true'], { env: { PATH }, stdio: 'ignore' }).status === 0
}

/** An unprivileged process cannot signal a root process. Closing its standard input ends it. */
function runWithPipe(
  [file = '', ...args]: readonly string[],
  env: ActionEnv,
  { task, room, env: programEnv }: Pick<RootPipeMessage, 'task' | 'room' | 'env'>,
): Promise<number> {
  const { PATH = '/usr/bin:/bin' } = env
  const runner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const message: RootPipeMessage = { task, env: programEnv, room, runner }
  wipeEnvironment()
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: { PATH }, stdio: ['pipe', 'inherit', 'inherit'] })
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.write(`${JSON.stringify(message)}\n`)
    const end = () => child.stdin.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    child.once('error', reject)
    child.once('exit', code => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end)
      resolve(code ?? 130)
    })
  })
}

/** Only root may write to the clone, whose ledger names the base tree, and to its work directory. */
export function prepareClosedDir(clone: string): string {
  chmodSync(clone, 0o700)
  makeAccessible(SIDES_DIR)
  mkdirSync(CLOSED_DIR, { recursive: true, mode: 0o700 })
  chmodSync(CLOSED_DIR, 0o700)
  return CLOSED_DIR
}

// Messages in the pipe

export const missingUsersSchema = z.strictObject({ what: z.string(), fix: z.string() })

export const taskSchema = z.strictObject({
  campaign: z.string(),
  order: digestSchema,
  directory: z.string(),
  /** Why there are no side users. */
  noUsers: missingUsersSchema.optional(),
})
export type MeasureTask = z.infer<typeof taskSchema>

const id = z.number().int().nonnegative()

/** Sent through a pipe, because every process can read arguments and environments. */
const pipeSchema = z.strictObject({
  task: z.unknown(),
  env: z.record(z.string(), z.string()),
  /** A folder of the runner's user, where it reads the reason for a return. */
  room: z.string(),
  runner: z.strictObject({ uid: id, gid: id }),
})
export type RootPipeMessage = z.infer<typeof pipeSchema>

export interface Task {
  inputs: Inputs
  env: ActionEnv
  /** Set when another process started this one with a pipe. Aborting `end` asks this process to stop. */
  pipe?: RootPipeMessage & { end: AbortSignal }
}

/** Reads the first line of standard input. The end of input asks this process to stop. */
export function readRootPipe(onEnd: () => void): Promise<RootPipeMessage> {
  const { stdin } = process
  return new Promise((resolve, reject) => {
    let text = ''
    stdin.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const end = text.indexOf('\n')
      if (end < 0) return
      stdin.unref()
      stdin.removeAllListeners('data').resume()
      try {
        resolve(pipeSchema.parse(JSON.parse(text.slice(0, end))))
      } catch (error) {
        reject(error)
      }
    })
    stdin.once('close', () => {
      reject(new Error('the parent process ended before it sent a task'))
      onEnd()
    })
  })
}

// Return without a measurement

const FILE = 'handed-back.json'
const backSchema = z.strictObject({ why: z.string() })

/** Tells the parent why root did not measure. The parent continues without root. */
export function writeReturnReason(room: string, why: string): void {
  writeFileSync(join(room, FILE), JSON.stringify({ why }))
}

export function readReturnReason(room: string): string | null {
  try {
    return backSchema.parse(JSON.parse(readFileSync(join(room, FILE), 'utf8'))).why
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}
