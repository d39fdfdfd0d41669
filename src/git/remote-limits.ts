import { ForgeError, UserError } from '../errors.ts'

/** How long a command that speaks to a remote is waited for. */
export interface RemoteLimits {
  /** Without a byte of output from git, whose progress display counts. */
  silenceSeconds: number
  /** The person or the system wants this process to end. */
  stop: AbortSignal | null
}

const DEFAULT_SECONDS = 60
const SETTING = 'WINNOW_REMOTE_TIMEOUT'

/** Seconds without a byte after which a remote counts as hanging. */
export function readSilenceLimit(env: Readonly<Record<string, string>>): number {
  const given = env[SETTING]
  if (given === undefined || given === '') return DEFAULT_SECONDS
  const seconds = Number(given)
  if (Number.isFinite(seconds) && seconds > 0) return seconds
  throw new UserError(`${SETTING} is ${JSON.stringify(given)}, which is no number of seconds`, {
    fix: `unset it (${DEFAULT_SECONDS} seconds without a byte), or set it to a number above 0`,
  })
}

/** The remote accepted a connection and sent nothing. What was asked of it may have been done. */
export class SilentRemote extends ForgeError {
  /** Only another look shows whether a push was done. */
  readonly isPush: boolean
  constructor(what: string, { isPush = false, ...detail }: ForgeError['detail'] & { isPush?: boolean } = {}) {
    super(what, detail)
    this.isPush = isPush
  }
}

/** A running command, and how to end it with all its children. */
export interface RunningCommand<T> {
  done: Promise<T>
  end: (signal: 'SIGTERM' | 'SIGKILL') => void
}

/** An interrupted process has two seconds: one to finish what it writes, the rest to end it. */
const FINISH_MS = 1_000
const KILL_MS = 300

/** Ends a command that hangs, or that is still under way some time after the process was asked to end. */
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
  // Rejected or not, the race below is what counts.
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

/** Signals a process group, which may have ended by itself. */
export function endProcessGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Checking|Delta compression|Total|Updating)\b/

/** The messages of git and the remote, without their progress displays. */
export function stripProgress(stderr: string): string {
  if (!stderr.includes('\r') && !/^(?:remote: )?[A-Z][a-z ]+:? .*\d/m.test(stderr)) return stderr
  const lines = stderr.split('\n').flatMap(line => {
    const parts = line.split('\r')
    const kept = parts.filter(part => part !== '' && !PROGRESS.test(part))
    return kept.length > 0 || line === '' ? [kept.join('\n')] : []
  })
  return lines.join('\n')
}
