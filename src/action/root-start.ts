import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { listSideUsers, type MissingUsers } from '../measure/users/side-users.ts'
import { wipeEnvironment } from './clean-start.ts'
import { isHosted } from './give-up-root.ts'
import { type RootPipeMessage, readReturnReason } from './handed-over.ts'
import { AS_ROOT, BY_PIPE } from './start-words.ts'
import type { ActionEnv } from './inputs.ts'

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
