import { Buffer } from 'node:buffer'
import { GitError, type SimpleGit, simpleGit } from 'simple-git'
import { ForgeError, UserError } from '../errors.ts'
import { CONFIG, type Isolation } from './isolation.ts'

// One-shot commands

export interface GitTask<T> {
  args: readonly string[]
  /** Exit codes other than 0 that are answers and not failures. */
  answers?: readonly number[]
  env?: Readonly<Record<string, string>>
  parse(output: GitOutput): T
}

export interface GitOutput {
  exitCode: number
  stdout: string
  stderr: string
}

export class GitExit extends GitError {
  readonly output: GitOutput
  constructor(output: GitOutput) {
    super(undefined, output.stderr.trim() || `git ended with exit code ${output.exitCode}`)
    this.output = output
  }
}

export function toSilentTask(args: readonly string[], env: GitTask<void>['env'] = {}): GitTask<void> {
  return { args, env, parse: () => undefined }
}

/** Linux takes 2 MiB of arguments and environment for one program, macOS 1 MiB. */
const MAX_ARGUMENT_BYTES = 128 * 1024

/** Splits a list of any length into parts that each fit into the arguments of one command. */
export function splitArguments<T>(items: readonly T[], toArgument: (item: T) => string): T[][] {
  const parts: T[][] = []
  let room = 0
  for (const item of items) {
    const bytes = Buffer.byteLength(toArgument(item)) + ARGUMENT_OVERHEAD
    if (bytes > room) {
      parts.push([])
      room = MAX_ARGUMENT_BYTES
    }
    parts.at(-1)?.push(item)
    room -= bytes
  }
  return parts
}

/** The end of its text, a pointer to it, and an option such as -e before it with the same. */
const ARGUMENT_OVERHEAD = 32

export interface GitRunner {
  run<T>(task: GitTask<T>): Promise<T>
}

/** Runs each command through simple-git. No argument comes unchecked from a user. */
export function createGitRunner(
  { cwd, env }: Isolation,
  extra: Readonly<Record<string, string>> = {},
): GitRunner {
  const shared = openSimpleGit(cwd, { ...env, ...extra })
  return {
    run: task =>
      runGitTask(task, cwd, async () => {
        const git = task.env ? openSimpleGit(cwd, { ...env, ...extra, ...task.env }) : shared
        try {
          return { exitCode: 0, stdout: await git.raw([...task.args]), stderr: '' }
        } catch (error) {
          if (error instanceof GitExit) return error.output
          throw error
        }
      }),
  }
}

function openSimpleGit(baseDir: string, env: Record<string, string>): SimpleGit {
  return (
    simpleGit({
      baseDir,
      config: [...CONFIG],
      allowEnvironment: Object.keys(env),
      maxConcurrentProcesses: 8,
      unsafe: UNSAFE,
      // By default, simple-git answers 50 ms after the exit, even if output is still unread.
      completion: { onClose: true, onExit: false },
      errors: (_, result) => {
        const output = {
          exitCode: result.exitCode,
          stdout: Buffer.concat(result.stdOut).toString('utf8'),
          stderr: Buffer.concat(result.stdErr).toString('utf8'),
        }
        return result.exitCode === 0 ? undefined : new GitExit(output)
      },
    })
      .env(env)
      // simple-git waits another 50 ms for a command that printed nothing. Empty output prevents that.
      .outputHandler((_, stdout) => queueMicrotask(() => void stdout.emit('data', Buffer.alloc(0))))
  )
}

export async function runGitTask<T>(
  task: GitTask<T>,
  cwd: string,
  run: () => Promise<GitOutput>,
): Promise<T> {
  const output = await run()
  if (output.exitCode === 0) return task.parse(output)
  const storageFailure = detectStorageFailure(cwd, output.stderr)
  if (storageFailure !== null) throw storageFailure
  if (!task.answers?.includes(output.exitCode)) throw new GitExit(output)
  return task.parse(output)
}

/** simple-git rejects these unless they are named. winnow sets the options itself. */
const UNSAFE = {
  allowUnsafeHooksPath: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeTemplateDir: true,
  allowUnsafePack: true,
  allowUnsafeAskPass: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeSshCommand: true,
  allowUnsafeGitProxy: true,
  allowUnsafeUrlRewrite: true,
  allowUnsafeEditor: true,
  allowUnsafePager: true,
  allowUnsafeInclude: true,
} as const

// Limits

export interface RemoteLimits {
  /** Longest time without output from git. Its progress display counts as output. */
  silenceSeconds: number
  /** Aborted when the user or the system wants this process to end. */
  stop: AbortSignal | null
}

const DEFAULT_SECONDS = 60
const TIMEOUT_VARIABLE = 'WINNOW_REMOTE_TIMEOUT'

/** Seconds without output after which a remote counts as hanging. */
export function readSilenceLimit(env: Readonly<Record<string, string>>): number {
  const value = env[TIMEOUT_VARIABLE]
  if (value === undefined || value === '') return DEFAULT_SECONDS
  const seconds = Number(value)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new UserError(
    `${TIMEOUT_VARIABLE} is ${JSON.stringify(value)}, which is not a number of seconds above 0`,
    {
      fix: `unset it to use ${DEFAULT_SECONDS} seconds, or set it to a number above 0`,
    },
  )
}

/** The remote accepted a connection and sent nothing. It may have carried out the request. */
export class SilentRemote extends ForgeError {
  /** Only another read shows whether a push took effect. */
  readonly isPush: boolean
  constructor(what: string, { isPush = false, ...detail }: ForgeError['detail'] & { isPush?: boolean } = {}) {
    super(what, detail)
    this.isPush = isPush
  }
}

// Storage failures

/** git's messages about failures to store data on this machine, not on the remote. */
const STORAGE_MESSAGE =
  /^(?:error|fatal): .*(?:No space left on device|Disk quota exceeded|Read-only file system|insufficient permission for adding an object|unable to create temporary (?:object )?file).*$/m

/** Returns null for any other failure. */
export function detectStorageFailure(directory: string, stderr: string): UserError | null {
  const words = STORAGE_MESSAGE.exec(stderr)?.[0]
  if (words === undefined) return null
  return explainUnwritable(directory, words.replace(/^\w+: /, ''))
}

export function explainUnwritable(directory: string, why: string, cause?: unknown): UserError {
  return new UserError(`git objects cannot be written to ${directory}: ${why}`, {
    place: { file: directory },
    fix: 'free space or give write permission, then run the same command again; nothing was half-written',
    ...(cause === undefined ? {} : { cause }),
  })
}

// Version

const MINIMUM_VERSION = [2, 38] as const

const version: GitTask<string> = {
  args: ['version'],
  parse: ({ stdout }) => /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0] ?? stdout.trim(),
}

export async function requireGit(runner: GitRunner): Promise<string> {
  const found = await runner.run(version).catch((error: unknown) => {
    throw new UserError('git was not found', {
      fix: `install git ${MINIMUM_VERSION.join('.')} or newer and put it on PATH`,
      cause: error,
    })
  })
  if (!isNewEnough(found)) {
    throw new UserError(`git ${found} is too old: winnow needs git ${MINIMUM_VERSION.join('.')} or newer`, {
      fix: 'upgrade git; nothing was written',
    })
  }
  return found
}

export function isNewEnough(found: string): boolean {
  const [major = 0, minor = 0] = found.split('.').map(Number)
  return major > MINIMUM_VERSION[0] || (major === MINIMUM_VERSION[0] && minor >= MINIMUM_VERSION[1])
}
