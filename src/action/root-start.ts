import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { listedUsers, type NoUsers } from '../measure/users/side-users.ts'
import { wipeEnvironment } from './clean-start.ts'
import { isHosted } from './give-up-root.ts'
import { type Handed, handedBack } from './handed-over.ts'
import { AS_ROOT, BY_PIPE } from './start-words.ts'
import type { Env } from './inputs.ts'

interface Start {
  /** Of this step, to find out what is possible here. */
  env: Env
  /** The variables that the program gets, in its pipe. */
  given: Env
}

/**
 * Root measures, and nobody is measured as root: where there are users for sides and a way to become root, that is how
 * the program starts. Its exit code; or why it did not measure, and then this job has no way to root any more if it was
 * GitHub's machine.
 */
export async function runAsRoot(
  program: string,
  task: unknown,
  { env, given }: Start,
): Promise<number | NoUsers> {
  const listed = listedUsers()
  const root = process.getuid?.() === 0
  const open = !root && maySudo(env)
  // Without users root measures nothing, and is asked all the same where it has a right to give up.
  if ('what' in listed && !(open && isHosted(env))) return listed
  if (!root && !open)
    return { what: 'the job cannot become root', fix: 'let its user run sudo without a password' }
  const room = mkdtempSync(join(resolve(env['RUNNER_TEMP'] ?? tmpdir()), 'winnow-root-'))
  try {
    const argv = [...(root ? [] : SUDO), process.execPath, ...process.execArgv, program, AS_ROOT]
    const code = await run(argv, env, { task, room, env: given })
    const why = handedBack(room)
    // Without an answer the job has failed already, and says why.
    const answered = why !== null || code === 0
    if (answered && !root && isHosted(env) && maySudo(env)) throw new UserError('sudo could not be given up')
    if (why === null) return code
    return { what: why, fix: 'see why it does not work that way, or use isolation: none' }
  } finally {
    rmSync(room, { recursive: true, force: true })
  }
}

/** As the user of this step: the token stands in neither arguments nor an environment that others could read. */
export function runByPipe(program: string, task: unknown, { env, given }: Start): Promise<number> {
  return run([process.execPath, ...process.execArgv, program, BY_PIPE], env, {
    task,
    room: tmpdir(),
    env: given,
  })
}

const SUDO = ['sudo', '--non-interactive', '--'] as const

function maySudo({ PATH = '/usr/bin:/bin' }: Env): boolean {
  return spawnSync('sudo', ['--non-interactive', 'true'], { env: { PATH }, stdio: 'ignore' }).status === 0
}

/**
 * A process of root cannot be signalled by who started it: what ends it is the end of its standard input, by which it is
 * told everything first.
 */
function run(
  [file = '', ...args]: readonly string[],
  env: Env,
  { task, room, env: given }: Pick<Handed, 'task' | 'room' | 'env'>,
): Promise<number> {
  const { PATH = '/usr/bin:/bin' } = env
  const runner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  const handed: Handed = { task, env: given, room, runner }
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
