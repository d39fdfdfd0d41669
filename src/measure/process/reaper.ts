import { type ChildProcess, spawn } from 'node:child_process'
import { z } from 'zod'
import {
  type Ended,
  type Launch,
  readStatus,
  type Strategy,
  type Supervisor,
  SupervisorLost,
  withDeadline,
} from './launch.ts'
import { REAPER_SCRIPT } from './reaper-script.ts'

type ReaperMode = Extract<Strategy, 'uid' | 'pid-namespace' | 'subreaper'>
/** The user that experiment code runs as. Switching to it requires root. */
export interface Owner {
  uid: number
  gid: number
}

const record = z.object({
  status: z.number().int(),
  wall_ns: z.number().nonnegative(),
  cpu_us: z.number().nonnegative(),
  max_rss_kb: z.number().nonnegative(),
  survivors: z.number().int(),
})

/** Supervisors that reap every descendant: they detect the last exit and add up the resources of all. */
export function createReaper(mode: ReaperMode, owner: Owner | null = null): Supervisor {
  const idleHosts: PerlHost[] = []

  function takeHost(): PerlHost {
    for (let host = idleHosts.pop(); host !== undefined; host = idleHosts.pop()) if (host.alive) return host
    return new PerlHost(buildHostArguments(mode, owner))
  }

  return {
    strategy: mode,
    async run(launch, onSpawn) {
      const host = takeHost()
      if (host.pid !== undefined) await onSpawn?.(host.pid)
      const { value, timedOut } = await withDeadline(
        host.run(encodeLaunch(launch)),
        createHostTerminator(host),
        launch,
      )
      if (host.alive) idleHosts.push(host)
      launch.signal.throwIfAborted()
      return { ...parseEnded(value, mode), timedOut }
    },
  }
}

function buildHostArguments(mode: ReaperMode, owner: Owner | null): string[] {
  const script = ['-e', REAPER_SCRIPT, mode, process.arch, String(process.pid)]
  return owner === null ? script : [...script, String(owner.uid), String(owner.gid)]
}

function encodeLaunch(launch: Launch): Buffer {
  const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`)
  const { command, cwd, stdout, stderr, maxProcesses = 0 } = launch
  const fields = [command, cwd, stdout, stderr, String(maxProcesses), ...env]
  const body = Buffer.from(fields.join('\0'))
  return Buffer.concat([Buffer.from(String(body.length).padStart(8, '0')), body])
}

function createHostTerminator(host: PerlHost) {
  return { term: () => host.command('t'), kill: () => host.command('k'), destroy: () => host.destroy() }
}

/**
 * Only a subreaper runs as the same user as the harness, which can kill it. The harness is at fault, not the
 * runner, and its processes may still be alive.
 */
const KILLED_FROM_BELOW = {
  exitCode: null,
  signal: 'SIGKILL',
  wallSeconds: 0,
  cpuSeconds: null,
  maxRssMb: null,
  unreaped: true,
} as const

function parseEnded({ record: line, lost, signal }: HostAnswer, mode: ReaperMode): Omit<Ended, 'timedOut'> {
  if (line === null && mode === 'subreaper' && signal === 'SIGKILL') return KILLED_FROM_BELOW
  if (line === null) throw new SupervisorLost({ stdout: '', stderr: lost, how: signal ?? 'by itself' })
  const usage = record.parse(JSON.parse(line))
  return {
    ...readStatus(usage.status),
    wallSeconds: usage.wall_ns / 1e9,
    cpuSeconds: usage.cpu_us / 1e6,
    maxRssMb: usage.max_rss_kb / 1024,
    unreaped: usage.survivors > 0,
  }
}

interface HostAnswer {
  record: string | null
  lost: string
  /** The signal that ended the worker or the host. Null if it exited. */
  signal: string | null
}

/** The host sends the result of a launch first, and then the exit of its worker. */
type HostMessage = { record: string } | { lost: string } | { status: number }

/** A small long-lived process that forks a worker for each launch. Ends when its stdin closes. */
class PerlHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<string | null>
  #text = ''
  #stderr = ''
  #onMessage: ((message: HostMessage) => void) | null = null
  /** Workers of answered launches whose exit is not reported yet. */
  #exitingWorkers = 0
  alive = true

  constructor(args: readonly string[]) {
    const path = process.env['PATH'] ?? '/usr/bin:/bin'
    const child = spawn('perl', [...args], { stdio: 'pipe', env: { PATH: path, LC_ALL: 'C' } })
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.#stderr += chunk))
    // A host that dies during a write is detected by its missing output.
    child.stdin.on('error', () => child.stdin.destroy())
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`))
    })
    this.#ended.then(
      () => (this.alive = false),
      () => (this.alive = false),
    )
    this.#unref()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** One launch at a time. The answer arrives before the worker exits, which the next launch waits for. */
  async run(envelope: Buffer): Promise<HostAnswer> {
    this.#child.ref()
    for (const stream of this.#streams()) stream.ref()
    const answered = new Promise<HostMessage>(resolve => (this.#onMessage = resolve))
    this.#child.stdin?.write(envelope)
    const end = await Promise.race([answered, this.#ended])
    this.#onMessage = null
    if (this.alive) this.#unref()
    const stderr = this.#stderr.trim()
    if (typeof end !== 'object' || end === null) return { record: null, lost: stderr, signal: end }
    if ('record' in end) return { record: end.record, lost: '', signal: null }
    if ('lost' in end) return { record: null, lost: end.lost, signal: null }
    return { record: null, lost: stderr, signal: readStatus(end.status).signal }
  }

  command(letter: 't' | 'k'): void {
    this.#child.stdin?.write(letter)
  }

  destroy(): void {
    this.#child.kill('SIGKILL')
  }

  /** An idle host must not keep winnow alive. */
  #unref(): void {
    this.#child.unref()
    for (const stream of this.#streams()) stream.unref()
  }

  #streams(): { ref(): void; unref(): void }[] {
    const { stdin, stdout, stderr } = this.#child
    return [stdin, stdout, stderr].flatMap(stream => (isSocket(stream) ? [stream] : []))
  }

  #read(chunk: string): void {
    const lines = (this.#text + chunk).split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#handleLine(line)
  }

  #handleLine(line: string): void {
    const status = /^end (\d+)$/.exec(line)?.[1]
    if (status !== undefined) {
      if (this.#exitingWorkers > 0) this.#exitingWorkers -= 1
      else this.#onMessage?.({ status: Number(status) })
      return
    }
    this.#exitingWorkers += 1
    this.#onMessage?.(line.startsWith('lost ') ? { lost: line.slice('lost '.length) } : { record: line })
  }
}

function isSocket(stream: unknown): stream is { ref(): void; unref(): void } {
  return typeof stream === 'object' && stream !== null && 'ref' in stream && 'unref' in stream
}
