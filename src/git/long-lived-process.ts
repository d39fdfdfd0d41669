import type { Buffer } from 'node:buffer'
import { spawn } from 'node:child_process'

export interface LongLivedProcess {
  readonly pid: number | undefined
  write(text: string): void
  /** Keeps node alive until the process answers. An idle process must not keep node alive. */
  setBusy(busy: boolean): void
  closeInput(): void
  /** Closes the input and waits for the end: the last output may arrive only after it. */
  close(): Promise<void>
}

interface ProcessCommand {
  command: string
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** Starts a process group, so that one signal reaches every process that the command started. */
  leadsGroup?: boolean
}

interface ProcessHandlers {
  onOutput: (chunk: Buffer) => void
  onErrorOutput?: (chunk: Buffer) => void
  /** Called once, also when the process could not be started. */
  onEnd: (reason: string) => void
}

/** Starts a process that answers many requests on its input, so that a request costs no new process. */
export function startLongLivedProcess(
  { command, args, cwd, env, leadsGroup = false }: ProcessCommand,
  { onOutput, onErrorOutput, onEnd }: ProcessHandlers,
): LongLivedProcess {
  const child = spawn(command, args, { cwd, env: { ...env }, stdio: 'pipe', detached: leadsGroup })
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  let lastErrors = ''
  let failure: string | null = null
  child.stdout.on('data', onOutput)
  child.stderr.on('data', (chunk: Buffer) => {
    if (onErrorOutput !== undefined) onErrorOutput(chunk)
    else lastErrors = (lastErrors + chunk.toString('utf8')).slice(-2000)
  })
  // The `close` event reports a process that ended during a write.
  child.stdin.on('error', () => undefined)
  child.on('error', error => (failure = error.message))
  child.on('close', (code, signal) =>
    onEnd(failure ?? (lastErrors.trim() || `it ended with ${signal ?? code}`)),
  )

  function setBusy(busy: boolean): void {
    for (const part of [child, child.stdin, child.stdout, child.stderr]) {
      if (busy && 'ref' in part && typeof part.ref === 'function') part.ref()
      if (!busy && 'unref' in part && typeof part.unref === 'function') part.unref()
    }
  }

  setBusy(false)
  return {
    pid: child.pid,
    write: text => void child.stdin.write(text),
    setBusy,
    closeInput: () => void child.stdin.end(),
    async close() {
      setBusy(true)
      child.stdin.end()
      await closed
    },
  }
}
