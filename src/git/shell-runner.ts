import { Buffer } from 'node:buffer'
import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { Isolation } from './isolation.ts'
import {
  endProcessGroup,
  type GitOutput,
  type GitRunner,
  type GitTask,
  type RemoteLimits,
  runGitTask,
  runWithLimits,
  stripProgress,
} from './runner.ts'

const MAX_SHELLS = 8

export interface ShellRunner extends GitRunner {
  close(): Promise<void>
}

/**
 * Runs local commands through small long-lived shells. With limits, ends a command that hangs, for example in a
 * hook of the receiving repository or on its file system.
 */
export function createShellRunner(isolation: Isolation, limits: RemoteLimits | null = null): ShellRunner {
  const shells = new Set<GitShell>()
  const idle: GitShell[] = []
  const queue: ((shell: GitShell) => void)[] = []

  function take(): Promise<GitShell> {
    for (let shell = idle.pop(); shell !== undefined; shell = idle.pop()) {
      if (shell.alive) return Promise.resolve(shell)
      shells.delete(shell)
    }
    if (shells.size >= MAX_SHELLS) return new Promise(resolve => queue.push(resolve))
    return Promise.resolve(start())
  }

  function start(): GitShell {
    const shell = new GitShell(isolation, limits !== null)
    shells.add(shell)
    return shell
  }

  function giveBack(shell: GitShell): void {
    if (!shell.alive) shells.delete(shell)
    const next = queue.shift()
    if (next) next(shell.alive ? shell : start())
    else if (shell.alive) idle.push(shell)
  }

  async function runInShell({ args, env }: GitTask<unknown>): Promise<GitOutput> {
    const shell = await take()
    try {
      if (limits === null) return await shell.run(args, env)
      const output = await runWithLimits(limits, onBytes => ({
        done: shell.run(args, env, onBytes),
        end: signal => shell.end(signal),
      }))
      return { ...output, stderr: stripProgress(output.stderr) }
    } finally {
      giveBack(shell)
    }
  }

  return {
    run: task => runGitTask(task, isolation.cwd, () => runInShell(task)),
    async close() {
      await Promise.all([...shells].map(shell => shell.close()))
    },
  }
}

interface PendingCommand {
  resolve(output: GitOutput): void
  reject(error: Error): void
  onBytes(): void
}

/**
 * A small long-lived process that starts git. Forking copies the page tables of the parent, which for a large
 * node process takes longer than most git commands. A terminal interrupt ends git but not the shell.
 */
class GitShell {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #prefix: string
  /** Random end mark of a command's output, which no program can guess and print. */
  readonly #mark = randomBytes(16).toString('hex')
  readonly #out = new OutputBuffer()
  readonly #err = new OutputBuffer()
  #waiting: PendingCommand | null = null
  alive = true

  /** `apart`: starts the shell in its own process group, which `end` can signal. */
  constructor({ cwd, env, configArgs }: Isolation, apart = false) {
    this.#prefix = ['git', ...configArgs].map(quoteArgument).join(' ')
    this.#child = spawn('/bin/sh', [], {
      cwd,
      env: selectShellVariables(env),
      stdio: 'pipe',
      detached: apart,
    })
    this.#child.stdout.on('data', (chunk: Buffer) => this.#read(this.#out, chunk))
    this.#child.stderr.on('data', (chunk: Buffer) => this.#read(this.#err, chunk))
    // The `close` event reports a shell that died during a write.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => this.#lost(error.message))
    this.#child.on('close', (code, signal) => this.#lost(`it ended with ${signal ?? code}`))
    this.#child.stdin.write('trap : INT\n')
    keepProcessAlive(this.#child, false)
  }

  run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    onBytes: () => void = () => undefined,
  ): Promise<GitOutput> {
    const set = Object.entries(env).map(([name, value]) => `${name}=${quoteArgument(value)} `)
    const command = `${set.join('')}${this.#prefix} ${args.map(quoteArgument).join(' ')} </dev/null`
    keepProcessAlive(this.#child, true)
    return new Promise((resolve, reject) => {
      // Drops late output of children of the previous command.
      this.#out.clear()
      this.#err.clear()
      this.#waiting = { resolve, reject, onBytes }
      this.#child.stdin.write(`${command}; echo "${this.#mark}$?"; echo ${this.#mark} >&2\n`)
    })
  }

  /** Ends the shell and all its children. Requires `apart`. */
  end(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.alive = false
    endProcessGroup(this.#child.pid, signal)
  }

  async close(): Promise<void> {
    if (!this.alive) return
    const gone = new Promise<void>(resolve => this.#child.once('close', () => resolve()))
    keepProcessAlive(this.#child, true)
    this.#child.stdin.end()
    await gone
  }

  #read(printed: OutputBuffer, chunk: Buffer): void {
    if (this.#waiting === null) return
    this.#waiting.onBytes()
    printed.add(chunk)
    const [stdout, stderr] = [this.#out.before(this.#mark), this.#err.before(this.#mark)]
    if (stdout === null || stderr === null) return
    const waiting = this.#waiting
    this.#waiting = null
    keepProcessAlive(this.#child, false)
    waiting?.resolve({ exitCode: Number(stdout.after), stdout: stdout.text, stderr: stderr.text })
  }

  #lost(how: string): void {
    this.alive = false
    this.#waiting?.reject(new Error(`the shell that starts git stopped: ${how}`))
    this.#waiting = null
  }
}

class OutputBuffer {
  #bytes: Buffer = Buffer.alloc(0)

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk])
  }

  /** Returns null until the mark and its line end have arrived. */
  before(mark: string): { text: string; after: string } | null {
    const at = this.#bytes.lastIndexOf(mark)
    if (at === -1 || this.#bytes.at(-1) !== 0x0a) return null
    const text = this.#bytes.toString('utf8', 0, at)
    return { text, after: this.#bytes.toString('latin1', at + mark.length, this.#bytes.length - 1) }
  }

  clear(): void {
    this.#bytes = Buffer.alloc(0)
  }
}

/** Some shells import functions from environment variables whose names are not identifiers. */
function selectShellVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name)))
}

function quoteArgument(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** An idle long-lived process must not keep node alive. */
export function keepProcessAlive(child: ChildProcess, hold: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    if (part === null) continue
    if (hold && 'ref' in part && typeof part.ref === 'function') part.ref()
    if (!hold && 'unref' in part && typeof part.unref === 'function') part.unref()
  }
}

/**
 * Ends a process by closing its input. Keeps its pipes referenced until then, because the last output may
 * arrive only after it is gone.
 */
export async function closeInput(child: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = new Promise<void>(resolve => child.once('close', () => resolve()))
  keepProcessAlive(child, true)
  child.stdin.end()
  await gone
}
