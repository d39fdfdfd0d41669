import { Buffer } from 'node:buffer'
import { spawn } from 'node:child_process'
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

export interface GitRunner {
  run<T>(task: GitTask<T>): Promise<T>
}

/**
 * Runs one-shot commands. simple-git adds 0.1 ms to a spawn, but waits 50 ms for a command without output, so
 * tasks choose options that print. Its guards against unsafe options are disabled for options that winnow sets
 * itself; no argument comes unchecked from a user.
 */
export function createGitRunner(
  isolation: Isolation,
  extra: Readonly<Record<string, string>> = {},
): GitRunner {
  const { cwd } = isolation
  const env = { ...isolation.env, ...extra }
  const git = withSimpleGit(cwd, env)
  const fitFor = (task: GitTask<unknown>) => (task.env ? withSimpleGit(cwd, { ...env, ...task.env }) : git)
  return { run: task => runGitTask(task, cwd, () => runSimpleGit(fitFor(task), task)) }
}

function withSimpleGit(baseDir: string, env: Record<string, string>): SimpleGit {
  return simpleGit({
    baseDir,
    config: [...CONFIG],
    allowEnvironment: Object.keys(env),
    maxConcurrentProcesses: 8,
    unsafe: UNSAFE,
    errors: (_, result) => {
      const output = {
        exitCode: result.exitCode,
        stdout: Buffer.concat(result.stdOut).toString('utf8'),
        stderr: Buffer.concat(result.stdErr).toString('utf8'),
      }
      return result.exitCode === 0 ? undefined : new GitExit(output)
    },
  }).env(env)
}

async function runSimpleGit(git: SimpleGit, { args }: GitTask<unknown>): Promise<GitOutput> {
  try {
    return { exitCode: 0, stdout: await git.raw([...args]), stderr: '' }
  } catch (error) {
    if (error instanceof GitExit) return error.output
    throw error
  }
}

export async function runGitTask<T>(
  task: GitTask<T>,
  cwd: string,
  run: () => Promise<GitOutput>,
): Promise<T> {
  const output = await run()
  if (output.exitCode === 0) return task.parse(output)
  const unwritable = detectStorageFailure(cwd, output.stderr)
  if (unwritable !== null) throw unwritable
  if (!task.answers?.includes(output.exitCode)) throw new GitExit(output)
  return task.parse(output)
}

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

// Network commands

/**
 * Runs commands that contact a server. Each command has its own process group, so that git's helpers (http,
 * ssh) end with it when the server hangs.
 */
export function createNetworkRunner(isolation: Isolation, limits: RemoteLimits): GitRunner {
  return {
    run: task =>
      runGitTask(task, isolation.cwd, () =>
        runWithLimits(limits, onBytes => startGit(isolation, task, limits, onBytes)),
      ),
  }
}

function startGit(
  { cwd, env, configArgs }: Isolation,
  task: GitTask<unknown>,
  { silenceSeconds }: RemoteLimits,
  onBytes: () => void,
): RunningCommand<GitOutput> {
  const slow = ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${Math.ceil(silenceSeconds)}`]
  const child = spawn('git', [...configArgs, ...slow, ...task.args], {
    cwd,
    env: { ...env, ...task.env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr] = [child.stdout, child.stderr].map(stream => {
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      onBytes()
    })
    return () => Buffer.concat(chunks).toString('utf8')
  })
  const done = new Promise<GitOutput>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === null) return reject(new Error(`git was ended by ${signal}`))
      resolve({ exitCode: code, stdout: stdout?.() ?? '', stderr: stripProgress(stderr?.() ?? '') })
    })
  })
  return { done, end: signal => endProcessGroup(child.pid, signal) }
}

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
  throw new UserError(`${TIMEOUT_VARIABLE} is ${JSON.stringify(value)}, which is no number of seconds`, {
    fix: `unset it (${DEFAULT_SECONDS} seconds without a byte), or set it to a number above 0`,
  })
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

interface RunningCommand<T> {
  done: Promise<T>
  end: (signal: 'SIGTERM' | 'SIGKILL') => void
}

/** An interrupted process has two seconds: one to finish its writes, the rest to end git. */
const FINISH_MS = 1_000
const KILL_MS = 300

/** Ends a command that hangs, or that still runs some time after the process was asked to end. */
export async function runWithLimits<T>(
  { silenceSeconds, stop }: RemoteLimits,
  start: (onBytes: () => void) => RunningCommand<T>,
): Promise<T> {
  let ended: Error | null = null
  const timers = new Set<NodeJS.Timeout>()
  const later = (ms: number, act: () => void) => {
    const timer = setTimeout(act, ms)
    timers.add(timer)
    return timer
  }
  let giveUp: (error: Error) => void = () => undefined
  const over = new Promise<never>((_, reject) => (giveUp = reject))
  // Ignore a late rejection: only the race below counts.
  over.catch(() => undefined)
  const end = (why: Error) => {
    if (ended !== null) return
    ended = why
    running.end('SIGTERM')
    later(KILL_MS, () => {
      running.end('SIGKILL')
      giveUp(why)
    })
  }
  const silent = later(silenceSeconds * 1000, () =>
    end(new SilentRemote(`the remote sent no byte for ${silenceSeconds} s`)),
  )
  const stopping = () => void later(FINISH_MS, () => end(new Error('git was ended with this process')))
  const running = start(() => void silent.refresh())
  if (stop?.aborted === true) stopping()
  stop?.addEventListener('abort', stopping, { once: true })
  try {
    const value = await Promise.race([running.done, over])
    if (ended !== null) throw ended
    return value
  } catch (error) {
    throw ended ?? error
  } finally {
    stop?.removeEventListener('abort', stopping)
    for (const timer of timers) clearTimeout(timer)
  }
}

export function endProcessGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

// Output

const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Checking|Delta compression|Total|Updating)\b/

export function stripProgress(stderr: string): string {
  if (!stderr.includes('\r') && !/^(?:remote: )?[A-Z][a-z ]+:? .*\d/m.test(stderr)) return stderr
  const lines = stderr.split('\n').flatMap(line => {
    const parts = line.split('\r')
    const kept = parts.filter(part => part !== '' && !PROGRESS.test(part))
    return kept.length > 0 || line === '' ? [kept.join('\n')] : []
  })
  return lines.join('\n')
}

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
