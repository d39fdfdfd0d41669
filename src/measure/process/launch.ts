import type { ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

/** What is started under supervision: one shell command of the spec, with all that it may see. */
export interface Launch {
  command: string
  cwd: string
  env: Readonly<Record<string, string>>
  /** Files that receive the output; nothing a harness prints ever reaches our own stdout. */
  stdout: string
  stderr: string
  timeoutSeconds: number
  /** Between TERM and KILL; 5 unless told. */
  graceSeconds?: number
  signal: AbortSignal
}

export type Strategy = 'uid' | 'pid-namespace' | 'shell-namespace' | 'subreaper' | 'group'

/** How it ended. No process of it is alive any more, unless `unreaped` says that this cannot be proven. */
export interface Ended {
  exitCode: number | null
  signal: string | null
  timedOut: boolean
  wallSeconds: number
  /** Null where nobody reaped every descendant: missing is not good (invariant 5). */
  cpuSeconds: number | null
  maxRssMb: number | null
  unreaped: boolean
}

/** Starts a command and returns when every process it left behind is dead. */
export interface Supervisor {
  readonly strategy: Strategy
  run(launch: Launch, onSpawn?: (pid: number) => Promise<void>): Promise<Ended>
}

/** Between TERM and KILL (spec.md: `timeout_seconds`). */
const GRACE_SECONDS = 5
/** The same after an interrupt, when no result is needed: an interrupted winnow has two seconds to end. */
const CANCELLED_GRACE_SECONDS = 0.5
const GIVING_UP_SECONDS = 15

/** Ways to end a whole tree, from polite to certain. */
interface TreeTerminator {
  term(): void | Promise<void>
  kill(): void | Promise<void>
  /** When even the supervisor does not answer. */
  destroy(): void
}

/** Ends what runs too long (TERM, 5 s, KILL) or was cancelled (TERM, half a second, KILL). Returns whether the time ran out. */
export async function withDeadline<T>(
  running: Promise<T>,
  ending: TreeTerminator,
  limits: Pick<Launch, 'timeoutSeconds' | 'graceSeconds' | 'signal'>,
): Promise<{ value: T; timedOut: boolean }> {
  const grace = (limits.graceSeconds ?? GRACE_SECONDS) * 1000
  const over = new AbortController()
  const state = { timedOut: false }
  const escalate = async () => {
    const cancelled = await sleepOrCancel(limits.timeoutSeconds, limits.signal, over.signal)
    state.timedOut = !cancelled
    await ending.term()
    await delay(cancelled ? Math.min(grace, CANCELLED_GRACE_SECONDS * 1000) : grace, undefined, {
      signal: over.signal,
    })
    await ending.kill()
    await delay(GIVING_UP_SECONDS * 1000, undefined, { signal: over.signal })
    ending.destroy()
  }
  const watch = escalate().catch((error: unknown) => {
    if (!over.signal.aborted) throw error
  })
  try {
    const value = await running
    return { value, timedOut: state.timedOut }
  } finally {
    over.abort()
    await watch
  }
}

/** True when it was cancelled, false when the time ran out; rejects when the process ended first. */
async function sleepOrCancel(seconds: number, cancel: AbortSignal, over: AbortSignal): Promise<boolean> {
  if (cancel.aborted) return true
  try {
    await delay(Math.min(seconds * 1000, 2 ** 31 - 1), undefined, { signal: AbortSignal.any([cancel, over]) })
    return false
  } catch (error) {
    if (over.aborted || !cancel.aborted) throw error
    return true
  }
}

/** What a supervisor said, and how it ended itself. */
export interface SupervisorOutput {
  stdout: string
  stderr: string
  how: string
}

export function collectOutput(child: ChildProcess): Promise<SupervisorOutput> {
  const text = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text.stdout += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.stderr += chunk))
  // One that died while we wrote to it is reported by what it did not say.
  child.stdin?.on('error', () => child.stdin?.destroy())
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ ...text, how: signal ?? `exit ${code}` }))
  })
}

/** The supervisor ended without its record: it could not start, or somebody killed it. */
export class SupervisorLost extends Error {
  override readonly name = 'SupervisorLost'
  constructor(output: SupervisorOutput) {
    super(`the process supervisor ended (${output.how}) before the harness did: ${output.stderr.trim()}`)
  }
}

const NAMES = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** What a wait status says: an exit code, or the signal that ended the process. */
export function readStatus(status: number): { exitCode: number | null; signal: string | null } {
  const number = status & 0x7f
  if (number === 0) return { exitCode: (status >> 8) & 0xff, signal: null }
  return { exitCode: null, signal: NAMES.get(number) ?? `signal ${number}` }
}

/** Low enough to leave a core to what another process times, high enough to go on where every core is taken. */
const NICE = 10

/** The same command at low priority, with everything it starts; as it is where the machine has no `nice`. */
export function lowerPriority(command: string): string {
  const quoted = `'${command.replaceAll("'", String.raw`'\''`)}'`
  return `command -v nice >/dev/null 2>&1 || exec /bin/sh -c ${quoted}\nexec nice -n ${NICE} /bin/sh -c ${quoted}`
}
