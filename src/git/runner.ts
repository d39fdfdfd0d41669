import { Buffer } from 'node:buffer'
import { GitError, type SimpleGit, simpleGit } from 'simple-git'
import { CONFIG, type Isolation } from './isolation.ts'
import { detectStorageFailure } from './storage-failure.ts'

/** A git command as data: its arguments and what its output means. One task, one parser, one file. */
export interface GitTask<T> {
  args: readonly string[]
  /** exit codes other than 0 that are an answer, not a failure */
  answers?: readonly number[]
  /** for this command alone */
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
 * The one runner of one-shot commands. simple-git adds 0.1 ms to a spawn, but waits 50 ms for a command
 * that prints nothing: tasks choose options that print. Its guards against unsafe options are opened where
 * we set those options ourselves; arguments never come from a person unchecked.
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

/** What a command's output means, whoever ran it. */
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
