import { type ChildProcess, spawn } from 'node:child_process'
import { readStatus } from './signal-name.ts'

/** What one launch came to, as the host told it, or how the host itself ended. */
export interface HostAnswer {
  record: string | null
  lost: string
  /** The signal that ended the worker or the host; null when it ended by itself. */
  signal: string | null
}

/** What the host says of a launch: what came of it, then that its worker is gone. */
type HostMessage = { record: string } | { lost: string } | { status: number }

/** A small process that stays and forks a worker for each launch; it ends when its standard input does. */
export class PerlHost {
  readonly #child: ChildProcess
  readonly #ended: Promise<string | null>
  #text = ''
  #complaints = ''
  #onSaid: ((said: HostMessage) => void) | null = null
  /** Workers that are still to be reported gone, of launches that are answered. */
  #leaving = 0
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

  /** One launch at a time. Its answer is complete before its worker is gone: the next launch waits for that. */
  async run(envelope: Buffer): Promise<HostAnswer> {
    this.#child.ref()
    for (const stream of this.#streams()) stream.ref()
    const over = new Promise<HostMessage>(resolve => (this.#onSaid = resolve))
    this.#child.stdin?.write(envelope)
    const end = await Promise.race([over, this.#ended])
    this.#onSaid = null
    if (this.alive) this.#rest()
    const complaints = this.#complaints.trim()
    if (typeof end !== 'object' || end === null) return { record: null, lost: complaints, signal: end }
    if ('record' in end) return { record: end.record, lost: '', signal: null }
    if ('lost' in end) return { record: null, lost: end.lost, signal: null }
    return { record: null, lost: complaints, signal: readStatus(end.status).signal }
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
    const lines = (this.#text + chunk).split('\n')
    this.#text = lines.pop() ?? ''
    for (const line of lines) this.#said(line)
  }

  #said(line: string): void {
    const status = /^end (\d+)$/.exec(line)?.[1]
    if (status !== undefined) {
      if (this.#leaving > 0) this.#leaving -= 1
      else this.#onSaid?.({ status: Number(status) })
      return
    }
    this.#leaving += 1
    this.#onSaid?.(line.startsWith('lost ') ? { lost: line.slice('lost '.length) } : { record: line })
  }
}

function isSocket(stream: unknown): stream is { ref(): void; unref(): void } {
  return typeof stream === 'object' && stream !== null && 'ref' in stream && 'unref' in stream
}
