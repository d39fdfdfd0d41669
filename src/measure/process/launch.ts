import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { quoteShell } from '../../model/text.ts'

/** A shell command of the spec with its whole environment, started under supervision. */
export interface Launch {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  /** Files that receive the output. Harness output never reaches winnow's own stdout. */
  stdout: string
  stderr: string
  timeoutSeconds: number
  /** Where the kernel can count them for this command alone. A fork beyond it fails. */
  maxProcesses?: number
  /** Between TERM and KILL. Defaults to 5. */
  graceSeconds?: number
  signal: AbortSignal
}

export type Strategy = 'uid' | 'pid-namespace' | 'shell-namespace' | 'subreaper' | 'group'

/** The end of a command. Every process of it is dead, unless `unreaped` says that this cannot be proven. */
export interface Ended {
  exitCode: number | null
  signal: string | null
  timedOut: boolean
  wallSeconds: number
  /** Null if not every descendant was reaped: missing is not good (invariant 5). */
  cpuSeconds: number | null
  maxRssMb: number | null
  unreaped: boolean
}

/** Returns when the command and every process it started are dead. */
export interface Supervisor {
  readonly strategy: Strategy
  run(launch: Launch, onSpawn?: (pid: number) => Promise<void>): Promise<Ended>
}

/** Between TERM and KILL (spec.md: `timeout_seconds`). */
const GRACE_SECONDS = 5
/** Shorter after an interrupt, when no result is needed: an interrupted winnow has two seconds to end. */
const CANCELLED_GRACE_SECONDS = 0.5
const GIVING_UP_SECONDS = 15

interface TreeTerminator {
  term(): void | Promise<void>
  kill(): void | Promise<void>
  /** For a supervisor that does not answer. */
  destroy(): void
}

/** Ends a command that times out (TERM, 5 s, KILL) or is cancelled (TERM, half a second, KILL). */
export async function withDeadline<T>(
  running: Promise<T>,
  terminator: TreeTerminator,
  limits: Pick<Launch, 'timeoutSeconds' | 'graceSeconds' | 'signal'>,
): Promise<{ value: T; timedOut: boolean }> {
  const grace = (limits.graceSeconds ?? GRACE_SECONDS) * 1000
  const finished = new AbortController()
  const state = { timedOut: false }
  const escalate = async () => {
    const cancelled = await sleepOrCancel(limits.timeoutSeconds, limits.signal, finished.signal)
    state.timedOut = !cancelled
    await terminator.term()
    await delay(cancelled ? Math.min(grace, CANCELLED_GRACE_SECONDS * 1000) : grace, undefined, {
      signal: finished.signal,
    })
    await terminator.kill()
    await delay(GIVING_UP_SECONDS * 1000, undefined, { signal: finished.signal })
    terminator.destroy()
  }
  const watch = escalate().catch((error: unknown) => {
    if (!finished.signal.aborted) throw error
  })
  try {
    const value = await running
    return { value, timedOut: state.timedOut }
  } finally {
    finished.abort()
    await watch
  }
}

/** True on cancellation, false on timeout. Rejects if the process ends first. */
async function sleepOrCancel(seconds: number, cancel: AbortSignal, finished: AbortSignal): Promise<boolean> {
  if (cancel.aborted) return true
  try {
    await delay(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, {
      signal: AbortSignal.any([cancel, finished]),
    })
    return false
  } catch (error) {
    if (finished.aborted || !cancel.aborted) throw error
    return true
  }
}

export interface SupervisorOutput {
  stdout: string
  stderr: string
  how: string
}

export function collectOutput(child: ChildProcess): Promise<SupervisorOutput> {
  const text = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk))
  // A supervisor that dies during a write is detected by its missing output.
  child.stdin?.on('error', () => child.stdin?.destroy())
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ ...text, how: signal ?? `exit ${code}` }))
  })
}

/** The supervisor ended without its record: it failed to start or was killed. */
export class SupervisorLost extends Error {
  override readonly name = 'SupervisorLost'
  constructor(output: SupervisorOutput) {
    super(`the process supervisor ended (${output.how}) before the harness did: ${output.stderr.trim()}`)
  }
}

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** Decodes a wait status: an exit code, or the signal that ended the process. */
export function readStatus(status: number): { exitCode: number | null; signal: string | null } {
  const number = status & 0x7f
  if (number === 0) return { exitCode: (status >> 8) & 0xff, signal: null }
  return { exitCode: null, signal: NAMES.get(number) ?? `signal ${number}` }
}

/** Low enough to leave a core to the timed process, high enough to make progress when every core is busy. */
const NICE = 10

/** A machine without `nice` runs the command unchanged. */
export function lowerPriority(command: string): string {
  const quoted = quoteShell(command)
  return `command -v nice >/dev/null 2>&1 || exec /bin/sh -c ${quoted}\nexec nice -n ${NICE} /bin/sh -c ${quoted}`
}
