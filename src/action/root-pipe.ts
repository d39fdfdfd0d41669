import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { UserError } from '../errors.ts'
import { isMissing } from '../measure/file-system.ts'
import { listSideUsers, type MissingUsers } from '../measure/isolation/side-users.ts'
import { digestSchema } from '../model/ids.ts'
import { isHosted, wipeEnvironment } from './drop-secrets.ts'
import type { ActionEnv } from './inputs.ts'
import { AS_ROOT, BY_PIPE } from './start-modes.ts'

interface RootStart {
  /** Of this step, to find out what is possible here. */
  env: ActionEnv
  /** The variables that the program gets, in its pipe. */
  given: ActionEnv
}

/**
 * Root measures, and nobody is measured as root: where there are users for sides and a way to become root, that is how
 * the program starts. Its exit code; or why it did not measure, and then this job has no way to root any more if it was
 * GitHub's machine.
 */
export async function runAsRoot(
  program: string,
  task: unknown,
  { env, given }: RootStart,
): Promise<number | MissingUsers> {
  const listed = listSideUsers()
  const root = process.getuid?.() === 0
  const open = !root && canSudo(env)
  // Without users root measures nothing, and is asked all the same where it has a right to give up.
  if ('what' in listed && !(open && isHosted(env))) return listed
  if (!root && !open)
    return { what: 'the job cannot become root', fix: 'let its user run sudo without a password' }
  const room = mkdtempSync(join(resolve(env['RUNNER_TEMP'] ?? tmpdir()), 'winnow-root-'))
  try {
    const argv = [...(root ? [] : SUDO), process.execPath, ...process.execArgv, program, AS_ROOT]
    const code = await runWithPipe(argv, env, { task, room, env: given })
    const why = readReturnReason(room)
    // Without an answer the job has failed already, and says why.
    const answered = why !== null || code === 0
    if (answered && !root && isHosted(env) && canSudo(env)) throw new UserError('sudo could not be given up')
    if (why === null) return code
    return { what: why, fix: 'see why it does not work that way, or use isolation: none' }
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

/** As the user of this step: the token stands in neither arguments nor an environment that others could read. */
export function runThroughPipe(program: string, task: unknown, { env, given }: RootStart): Promise<number> {
  return runWithPipe([process.execPath, ...process.execArgv, program, BY_PIPE], env, {
    task,
    room: tmpdir(),
    env: given,
  })
}

const SUDO = ['sudo', '--non-interactive', '--'] as const

function canSudo({ PATH = '/usr/bin:/bin' }: ActionEnv): boolean {
  return spawnSync('sudo', ['--non-interactive', 'true'], { env: { PATH }, stdio: 'ignore' }).status === 0
}

/**
 * A process of root cannot be signalled by who started it: what ends it is the end of its standard input, by which it is
 * told everything first.
 */
function runWithPipe(
  [file = '', ...args]: readonly string[],
  env: ActionEnv,
  { task, room, env: given }: Pick<RootPipeMessage, 'task' | 'room' | 'env'>,
): Promise<number> {
  const { PATH = '/usr/bin:/bin' } = env
  const runner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const handed: RootPipeMessage = { task, env: given, room, runner }
  wipeEnvironment()
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env: { PATH }, stdio: ['pipe', 'inherit', 'inherit'] })
    child.stdin.on('error', () => child.stdin.destroy())
    child.stdin.write(`${JSON.stringify(handed)}\n`)
    const end = () => child.stdin.end()
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end)
    child.once('error', reject)
    child.once('exit', code => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, end)
      resolve(code ?? 130)
    })
  })
}

export const taskSchema = z.strictObject({
  campaign: z.string(),
  order: digestSchema,
  directory: z.string(),
  /** Why there are no users for sides. */
  noUsers: z.strictObject({ what: z.string(), fix: z.string() }).optional(),
})
export type MeasureTask = z.infer<typeof taskSchema>

const id = z.number().int().nonnegative()

/** What a program is told by whoever started it, in a pipe: what stands in arguments or an environment everybody may read. */
const pipeSchema = z.strictObject({
  task: z.unknown(),
  env: z.record(z.string(), z.string()),
  /** A folder of the runner's user, where it finds what is handed back. */
  room: z.string(),
  runner: z.strictObject({ uid: id, gid: id }),
})
export type RootPipeMessage = z.infer<typeof pipeSchema>

/** The first line of standard input. Its end, whenever that comes, is that of whoever waits for this process. */
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
      reject(new Error('whoever started this said nothing'))
      onEnd()
    })
  })
}

const FILE = 'handed-back.json'
const backSchema = z.strictObject({ why: z.string() })

/** Nothing is measured by root: why, for whoever goes on without it. */
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
