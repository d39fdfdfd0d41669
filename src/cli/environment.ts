import { randomBytes } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { UserError } from '../errors.ts'
import { createWebFetch } from '../github/web.ts'
import { quoteShell } from '../model/text.ts'
import type { Clock, Faults, RandomSource, Registries } from '../ports.ts'
import { UNKNOWN_ACTOR } from './context.ts'
import type { Call, CommandArguments, Program, Terminal } from './verb.ts'

/** Inputs of this process. Only this file reads them. */
export interface ProcessStart {
  env: Readonly<Record<string, string>>
  directory: string
  pid: number
  version: string
  registries?: Registries
  /** Defaults to a global installation called `winnow`. */
  program?: Program
}

const PROGRAM_NAMES: ReadonlySet<string> = new Set(['winnow', 'git-winnow'])

export function buildEnvironment(
  started: ProcessStart,
  given: CommandArguments,
  terminal: Terminal,
): Call['environment'] {
  const { env, version, registries } = started
  return {
    directory: resolveDirectory(started, given.text('directory')),
    env: withUserConfig(env),
    cacheDir: resolveCacheDir(started, given.text('cache-dir')),
    machineDir: findUserCacheDir(started) ?? resolveCacheDir(started, given.text('cache-dir')),
    remote: given.text('remote') ?? null,
    by: { run_id: `cli:${started.pid}`, attempt: 1, actor: getUserName(env) },
    version,
    clock,
    random,
    faults: parseFaults(env['WINNOW_FAULT']),
    progress: { say: line => terminal.err(line) },
    web: createWebFetch(env),
    ...(registries === undefined ? {} : { registries }),
  }
}

function resolveDirectory({ directory }: ProcessStart, given: string | undefined): string {
  const path = resolve(directory, given ?? '.')
  if (existsSync(path)) return realpathSync(path)
  throw new UserError(`there is no directory ${path}`, {
    place: { file: path },
    fix: 'give another with -C',
  })
}

function resolveCacheDir(started: ProcessStart, given: string | undefined): string {
  if (given !== undefined) return resolve(started.directory, given)
  const own = findUserCacheDir(started)
  if (own !== null) return own
  throw new UserError('winnow does not know where to keep its repository: HOME is not set', {
    fix: 'set HOME or XDG_CACHE_HOME, or give --cache-dir',
  })
}

/** Must be the same for all processes of a user, because they find each other there. */
function findUserCacheDir({ env }: ProcessStart): string | null {
  const { XDG_CACHE_HOME: cache, HOME: home } = env
  if (cache !== undefined && cache !== '') return resolve(cache, 'winnow')
  return home !== undefined && home !== '' ? resolve(home, '.cache', 'winnow') : null
}

/** The remote may need the credentials and rewritten URLs of the person's git configuration. */
function withUserConfig(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { HOME: home, GIT_CONFIG_GLOBAL: set } = env
  if (set !== undefined || home === undefined) return env
  const elsewhere = join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'git', 'config')
  const file = [join(home, '.gitconfig'), elsewhere].find(each => existsSync(each))
  return file === undefined ? env : { ...env, GIT_CONFIG_GLOBAL: file }
}

function getUserName({ USER, LOGNAME }: Readonly<Record<string, string>>): string {
  return USER || LOGNAME || UNKNOWN_ACTOR
}

const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise(resolve => {
      if (signal?.aborted === true) return resolve()
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, milliseconds)
      signal?.addEventListener('abort', done, { once: true })
    }),
}

const random: RandomSource = {
  hex: bytes => randomBytes(bytes).toString('hex'),
  fraction: () => Math.random(),
}

export function getProgramCommand(script: string, env: Readonly<Record<string, string>>): string {
  if (env['npm_command'] === 'exec') return 'npx git-winnow'
  const name = basename(script)
  const onPath = (env['PATH'] ?? '').split(':').includes(dirname(script))
  return PROGRAM_NAMES.has(name) && onPath ? name : `node ${quoteShell(script)}`
}

/**
 * For tests only: `WINNOW_FAULT=<point>:<n>` kills this process with SIGKILL the n-th time it reaches the point.
 * Points may contain colons, so the last colon separates.
 */
export function parseFaults(setting: string | undefined): Faults {
  if (setting === undefined || setting === '') return { reach: () => {} }
  const [, point = '', count = ''] = /^(.+):([1-9]\d*)$/.exec(setting) ?? []
  if (point === '') {
    throw new UserError(`WINNOW_FAULT is ${JSON.stringify(setting)}`, {
      fix: 'unset it; it is for tests and reads <point>:<n>',
    })
  }
  let left = Number(count)
  return {
    reach(reached) {
      if (reached !== point) return
      left -= 1
      if (left === 0) process.kill(process.pid, 'SIGKILL')
    },
  }
}
