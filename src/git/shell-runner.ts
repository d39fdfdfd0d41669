import { Buffer } from 'node:buffer'
import { randomBytes } from 'node:crypto'
import type { Isolation } from './isolation.ts'
import { type LongLivedProcess, startLongLivedProcess } from './long-lived-process.ts'
import {
  type GitOutput,
  type GitRunner,
  type GitTask,
  type RemoteLimits,
  runGitTask,
  SilentRemote,
} from './runner.ts'

// simple-git runs every git command except those of this file, for two reasons. Speed: node forks itself for
// each command and the kernel copies its page tables. One command takes 1.0 ms through a shell and 2.1 to
// 2.5 ms through simple-git; an experiment needs two or three, and a campaign of small ones took 14 % more CPU
// time with simple-git. Ending: simple-git sends SIGINT to git alone and cannot start a process group. After
// that signal, git-remote-http, ssh and a hook of a repository on this machine went on (git 2.39). A shell
// leads a group that one signal ends.

const MAX_SHELLS = 8

export interface ShellRunner extends GitRunner {
  close(): Promise<void>
}

/**
 * Runs commands on this machine through a pool of shells. With limits, ends a command that hangs, for example
 * in a hook of the receiving repository or on its file system.
 */
export function createShellRunner(isolation: Isolation, limits: RemoteLimits | null = null): ShellRunner {
  const shells = new Set<GitShell>()
  const idle: GitShell[] = []
  const queue: ((shell: GitShell) => void)[] = []

  function take(): GitShell | Promise<GitShell> {
    for (let shell = idle.pop(); shell !== undefined; shell = idle.pop()) {
      if (shell.isAlive) return shell
      shells.delete(shell)
    }
    return shells.size < MAX_SHELLS ? start() : new Promise(resolve => queue.push(resolve))
  }

  function start(): GitShell {
    const shell = new GitShell(isolation, limits)
    shells.add(shell)
    return shell
  }

  function giveBack(shell: GitShell): void {
    if (!shell.isAlive) shells.delete(shell)
    const next = queue.shift()
    if (next) next(shell.isAlive ? shell : start())
    else if (shell.isAlive) idle.push(shell)
  }

  return {
    run: task =>
      runGitTask(task, isolation.cwd, async () => {
        const shell = await take()
        try {
          return await shell.run(task)
        } finally {
          giveBack(shell)
        }
      }),
    async close() {
      await Promise.all([...shells].map(shell => shell.close()))
    },
  }
}

/**
 * Runs commands that contact a server. Each gets its own shell, because ssh may keep a connection and the
 * shell's output open after the command.
 */
export function createNetworkRunner(isolation: Isolation, limits: RemoteLimits): GitRunner {
  return {
    run: task =>
      runGitTask(task, isolation.cwd, async () => {
        const shell = new GitShell(isolation, limits)
        try {
          return await shell.run(task)
        } finally {
          shell.closeInput()
        }
      }),
  }
}

/** An interrupted process has two seconds: one to finish its writes, the rest to end git. */
const FINISH_MS = 1_000
const KILL_MS = 300

interface PendingCommand {
  resolve(output: GitOutput): void
  reject(error: Error): void
  onBytes(): void
}

class GitShell {
  readonly #process: LongLivedProcess
  readonly #limits: RemoteLimits | null
  readonly #prefix: string
  /** Random end mark of a command's output, which no program can guess and print. */
  readonly #mark = randomBytes(16).toString('hex')
  readonly #out = new MarkedOutput(this.#mark)
  readonly #err = new MarkedOutput(this.#mark)
  #pending: PendingCommand | null = null
  #endReason: Error | null = null
  #kill: NodeJS.Timeout | undefined
  isAlive = true

  constructor({ cwd, env, configArgs }: Isolation, limits: RemoteLimits | null) {
    this.#limits = limits
    this.#prefix = ['git', ...configArgs, ...buildSpeedLimit(limits)].map(quoteArgument).join(' ')
    this.#process = startLongLivedProcess(
      { command: '/bin/sh', args: [], cwd, env: selectShellVariables(env), leadsGroup: limits !== null },
      {
        onOutput: chunk => this.#read(this.#out, chunk),
        onErrorOutput: chunk => this.#read(this.#err, chunk),
        onEnd: reason => this.#fail(new Error(`the shell that starts git stopped: ${reason}`)),
      },
    )
    // A terminal interrupt ends git but not the shell.
    this.#process.write('trap : INT\n')
  }

  async run({ args, env = {} }: GitTask<unknown>): Promise<GitOutput> {
    const set = Object.entries(env).map(([name, value]) => `${name}=${quoteArgument(value)} `)
    const command = `${set.join('')}${this.#prefix} ${args.map(quoteArgument).join(' ')} </dev/null`
    if (this.#limits === null) return this.#send(command)
    const { silenceSeconds, stop } = this.#limits
    const silence = setTimeout(
      () => this.#end(new SilentRemote(`the remote sent no byte for ${silenceSeconds} s`)),
      silenceSeconds * 1000,
    )
    let finish: NodeJS.Timeout | undefined
    const stopSoon = () => {
      finish = setTimeout(() => this.#end(new Error('git was ended with this process')), FINISH_MS)
    }
    if (stop?.aborted === true) stopSoon()
    stop?.addEventListener('abort', stopSoon, { once: true })
    try {
      const output = await this.#send(command, () => void silence.refresh())
      return { ...output, stderr: stripProgress(output.stderr) }
    } finally {
      stop?.removeEventListener('abort', stopSoon)
      clearTimeout(silence)
      clearTimeout(finish)
    }
  }

  closeInput(): void {
    this.#process.closeInput()
  }

  async close(): Promise<void> {
    if (this.isAlive) await this.#process.close()
  }

  #send(command: string, onBytes: () => void = () => undefined): Promise<GitOutput> {
    this.#process.setBusy(true)
    return new Promise((resolve, reject) => {
      // Drops late output of children of the previous command.
      this.#out.clear()
      this.#err.clear()
      this.#pending = { resolve, reject, onBytes }
      this.#process.write(`${command}; echo "${this.#mark}$?"; echo ${this.#mark} >&2\n`)
    })
  }

  #read(output: MarkedOutput, chunk: Buffer): void {
    const pending = this.#pending
    if (pending === null) return
    pending.onBytes()
    output.add(chunk)
    if (!this.#out.isComplete || !this.#err.isComplete) return
    this.#pending = null
    this.#process.setBusy(false)
    const { text: stdout, after } = this.#out.split()
    pending.resolve({ exitCode: Number.parseInt(after, 10), stdout, stderr: this.#err.split().text })
  }

  /** Ends the shell and every process that it started. */
  #end(reason: Error): void {
    if (this.#endReason !== null) return
    this.#endReason = reason
    this.isAlive = false
    endProcessGroup(this.#process.pid, 'SIGTERM')
    this.#kill = setTimeout(() => {
      endProcessGroup(this.#process.pid, 'SIGKILL')
      this.#fail(reason)
    }, KILL_MS)
  }

  #fail(error: Error): void {
    this.isAlive = false
    clearTimeout(this.#kill)
    this.#pending?.reject(this.#endReason ?? error)
    this.#pending = null
  }
}

function buildSpeedLimit(limits: RemoteLimits | null): string[] {
  if (limits === null) return []
  const seconds = Math.ceil(limits.silenceSeconds)
  return ['-c', 'http.lowSpeedLimit=1', '-c', `http.lowSpeedTime=${seconds}`]
}

function endProcessGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** Collects output until the mark and its line end have arrived. */
class MarkedOutput {
  readonly #mark: string
  #chunks: Buffer[] = []
  /** The last bytes, because two chunks may share the mark. */
  #seam: Buffer = Buffer.alloc(0)
  #hasMark = false

  constructor(mark: string) {
    this.#mark = mark
  }

  add(chunk: Buffer): void {
    this.#chunks.push(chunk)
    const recent = Buffer.concat([this.#seam, chunk])
    this.#hasMark ||= recent.includes(this.#mark)
    this.#seam = recent.subarray(-this.#mark.length)
  }

  get isComplete(): boolean {
    return this.#hasMark && this.#seam.at(-1) === 0x0a
  }

  split(): { text: string; after: string } {
    const bytes = Buffer.concat(this.#chunks)
    const at = bytes.lastIndexOf(this.#mark)
    return { text: bytes.toString('utf8', 0, at), after: bytes.toString('utf8', at + this.#mark.length) }
  }

  clear(): void {
    this.#chunks = []
    this.#seam = Buffer.alloc(0)
    this.#hasMark = false
  }
}

/** Some shells import functions and their own options from the environment. */
function selectShellVariables(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => /^(?!SHELLOPTS$|BASHOPTS$)[A-Za-z_]\w*$/.test(name)),
  )
}

function quoteArgument(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Checking|Delta compression|Total|Updating)\b/

/** Removes progress displays from what git and the remote print. */
export function stripProgress(stderr: string): string {
  if (!stderr.includes('\r') && !/^(?:remote: )?[A-Z][a-z ]+:? .*\d/m.test(stderr)) return stderr
  const lines = stderr.split('\n').flatMap(line => {
    const parts = line.split('\r')
    const kept = parts.filter(part => part !== '' && !PROGRESS.test(part))
    return kept.length > 0 || line === '' ? [kept.join('\n')] : []
  })
  return lines.join('\n')
}
