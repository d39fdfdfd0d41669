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

const MOST_SHELLS = 8

export interface ShellRunner extends GitRunner {
  close(): Promise<void>
}

/**
 * Runs what stays on this machine, where many short commands are started by small shells that stay. With limits, what
 * hangs is ended: a hook of the repository that is pushed to, or its file system.
 */
export function createShellRunner(isolation: Isolation, limits: RemoteLimits | null = null): ShellRunner {
  const all = new Set<GitShell>()
  const resting: GitShell[] = []
  const queue: ((shell: GitShell) => void)[] = []

  function take(): Promise<GitShell> {
    for (let shell = resting.pop(); shell !== undefined; shell = resting.pop()) {
      if (shell.alive) return Promise.resolve(shell)
      all.delete(shell)
    }
    if (all.size >= MOST_SHELLS) return new Promise(resolve => queue.push(resolve))
    return Promise.resolve(start())
  }

  function start(): GitShell {
    const shell = new GitShell(isolation, limits !== null)
    all.add(shell)
    return shell
  }

  function giveBack(shell: GitShell): void {
    if (!shell.alive) all.delete(shell)
    const next = queue.shift()
    if (next) next(shell.alive ? shell : start())
    else if (shell.alive) resting.push(shell)
  }

  async function inShell({ args, env }: GitTask<unknown>): Promise<GitOutput> {
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
    run: task => runGitTask(task, isolation.cwd, () => inShell(task)),
    async close() {
      await Promise.all([...all].map(shell => shell.close()))
    },
  }
}

interface PendingCommand {
  resolve(output: GitOutput): void
  reject(error: Error): void
  onBytes(): void
}

/**
 * A small process that stays and starts git: the kernel copies the page tables of whoever forks, which takes
 * longer for a grown node than most git commands do. An interrupt from the terminal ends git and not the shell.
 */
class GitShell {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #prefix: string
  /** Ends what one command printed: nobody who prints can know it. */
  readonly #mark = randomBytes(16).toString('hex')
  readonly #out = new OutputBuffer()
  readonly #err = new OutputBuffer()
  #waiting: PendingCommand | null = null
  alive = true

  /** `apart`: in a process group of its own, which `end` ends. */
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
    // One that died while we wrote to it is reported by its end.
    this.#child.stdin.on('error', () => undefined)
    this.#child.on('error', error => this.#lost(error.message))
    this.#child.on('close', (code, signal) => this.#lost(`it ended with ${signal ?? code}`))
    this.#child.stdin.write('trap : INT\n')
    keepProcessAlive(this.#child, false)
  }

  /** One command at a time. */
  run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    onBytes: () => void = () => undefined,
  ): Promise<GitOutput> {
    const set = Object.entries(env).map(([name, value]) => `${name}=${quoteArgument(value)} `)
    const command = `${set.join('')}${this.#prefix} ${args.map(quoteArgument).join(' ')} </dev/null`
    keepProcessAlive(this.#child, true)
    return new Promise((resolve, reject) => {
      // What a child of the command before may have said since is nobody's.
      this.#out.clear()
      this.#err.clear()
      this.#waiting = { resolve, reject, onBytes }
      this.#child.stdin.write(`${command}; echo "${this.#mark}$?"; echo ${this.#mark} >&2\n`)
    })
  }

  /** Ends the shell and all that it started; only one that is apart. */
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

  /** null until the mark and the end of its line are here. */
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

/** Some shells read functions from the environment, under names that no variable has. */
function selectShellVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => /^[A-Za-z_]\w*$/.test(name)))
}

function quoteArgument(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** A process that stays, with nothing to answer, must not keep the program alive. */
export function keepProcessAlive(child: ChildProcess, hold: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    if (part === null) continue
    if (hold && 'ref' in part && typeof part.ref === 'function') part.ref()
    if (!hold && 'unref' in part && typeof part.unref === 'function') part.unref()
  }
}

/** Ends a process that reads until its input does. Its pipes as well: they may be read to their end only after it is gone. */
export async function closeInput(child: ChildProcessWithoutNullStreams): Promise<void> {
  const gone = new Promise<void>(resolve => child.once('close', () => resolve()))
  keepProcessAlive(child, true)
  child.stdin.end()
  await gone
}
