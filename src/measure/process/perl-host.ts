import { type ChildProcess, spawn } from 'node:child_process'
import { readStatus } from './signal-name.ts'

/** What one launch came to, as the host told it, or how the host itself ended. */
export interface HostAnswer {
  record: string | null
  lost: string
  /** The signal that ended the worker or the host; null when it ended by itself. */
  signal: string | null
}

/** A small process that stays and forks a worker for each launch; it ends when its standard input does. */
export class PerlHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<string | null>
  #text = ''
  #complaints = ''
  #onEnd: ((status: number) => void) | null = null
  alive = true

  constructor(args: readonly string[]) {
    const path = process.env['PATH'] ?? '/usr/bin:/bin'
    const child = spawn('perl', [...args], { stdio: 'pipe', env: { PATH: path, LC_ALL: 'C' } })
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (this.#complaints += chunk))
    // One that died while we wrote to it is reported by what it did not say.
    child.stdin.on('error', () => child.stdin.destroy())
    this.#ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`))
    })
    this.#ended.then(
      () => (this.alive = false),
      () => (this.alive = false),
    )
    this.#rest()
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** One launch at a time. */
  async run(envelope: Buffer): Promise<HostAnswer> {
    this.#text = ''
    this.#child.ref()
    for (const stream of this.#streams()) stream.ref()
    const over = new Promise<number>(resolve => (this.#onEnd = resolve))
    this.#child.stdin?.write(envelope)
    const end = await Promise.race([over, this.#ended])
    this.#onEnd = null
    if (this.alive) this.#rest()
    const lines = this.#text.split('\n')
    const lost = lines.find(line => line.startsWith('lost '))?.slice('lost '.length)
    return {
      record: lines.find(line => line.startsWith('{')) ?? null,
      lost: lost ?? this.#complaints.trim(),
      signal: typeof end === 'number' ? readStatus(end).signal : end,
    }
  }

  command(letter: 't' | 'k'): void {
    this.#child.stdin?.write(letter)
  }

  destroy(): void {
    this.#child.kill('SIGKILL')
  }

  /** Between launches it keeps nobody from exiting. */
  #rest(): void {
    this.#child.unref()
    for (const stream of this.#streams()) stream.unref()
  }

  #streams(): { ref(): void; unref(): void }[] {
    const { stdin, stdout, stderr } = this.#child
    return [stdin, stdout, stderr].flatMap(stream => (isSocket(stream) ? [stream] : []))
  }

  #read(chunk: string): void {
    this.#text += chunk
    const end = /^end (\d+)\n/m.exec(this.#text)
    if (end) this.#onEnd?.(Number(end[1]))
  }
}

function isSocket(stream: unknown): stream is { ref(): void; unref(): void } {
  return typeof stream === 'object' && stream !== null && 'ref' in stream && 'unref' in stream
}
