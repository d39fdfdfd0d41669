import { Buffer } from 'node:buffer'
import type { Oid } from '../model/ids.ts'
import type { Isolation } from './isolation.ts'
import { type LongLivedProcess, startLongLivedProcess } from './long-lived-process.ts'
import { isObjectType, isOid, type ObjectType } from './object-format.ts'

export interface StoredObject {
  type: ObjectType
  size: number
  /** Empty when only the header was requested. */
  content: Buffer
}

interface ObjectRequest {
  command: 'contents' | 'info'
  oid: Oid
  attempts: number
  resolve(object: StoredObject | null): void
  reject(error: Error): void
}

/** Content of an object, as far as it has arrived. */
interface ObjectBody {
  type: ObjectType
  bytes: Buffer
  filled: number
}

/** Keeps one `cat-file --batch-command` running, so that reading an object needs no new process. */
export class ObjectReader {
  readonly #isolation: Isolation
  readonly #queue: ObjectRequest[] = []
  #process: LongLivedProcess | null = null
  #closed = false
  #header = Buffer.alloc(0)
  #body: ObjectBody | null = null

  constructor(isolation: Isolation) {
    this.#isolation = isolation
  }

  read(oid: Oid): Promise<StoredObject | null> {
    return this.#ask('contents', oid)
  }

  info(oid: Oid): Promise<StoredObject | null> {
    return this.#ask('info', oid)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#process?.close()
  }

  #ask(command: ObjectRequest['command'], oid: Oid): Promise<StoredObject | null> {
    if (!isOid(oid)) {
      return Promise.reject(new Error(`${JSON.stringify(oid)} is not a git object id`))
    }
    if (this.#closed) return Promise.reject(new Error('the repository was closed'))
    return new Promise((resolve, reject) => this.#send({ command, oid, attempts: 0, resolve, reject }))
  }

  #send(request: ObjectRequest): void {
    const reader = (this.#process ??= this.#start())
    request.attempts++
    this.#queue.push(request)
    if (this.#queue.length === 1) reader.setBusy(true)
    reader.write(`${request.command} ${request.oid}\n`)
  }

  #start(): LongLivedProcess {
    const { cwd, env, configArgs } = this.#isolation
    this.#header = Buffer.alloc(0)
    this.#body = null
    const reader = startLongLivedProcess(
      { command: 'git', args: [...configArgs, 'cat-file', '--batch-command'], cwd, env },
      {
        onOutput: chunk => {
          for (let at = 0; at < chunk.length; )
            at = this.#body === null ? this.#readHeader(chunk, at) : this.#readBody(this.#body, chunk, at)
          if (this.#queue.length === 0) reader.setBusy(false)
        },
        onEnd: reason => this.#retry(reason),
      },
    )
    return reader
  }

  /** Sends open requests once more to a new reader. */
  #retry(reason: string): void {
    this.#process = null
    for (const request of this.#queue.splice(0)) {
      if (request.attempts < 2 && !this.#closed) this.#send(request)
      else request.reject(new Error(`git cat-file stopped while reading ${request.oid}: ${reason}`))
    }
  }

  #readHeader(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(0x0a, at)
    this.#header = Buffer.concat([this.#header, chunk.subarray(at, end === -1 ? chunk.length : end)])
    if (end === -1) return chunk.length
    const [, type = '', size = ''] = this.#header.toString('latin1').split(' ')
    this.#header = Buffer.alloc(0)
    const request = this.#queue[0]
    if (!isObjectType(type)) this.#answer(null)
    else if (request?.command === 'contents') {
      this.#body = { type, bytes: Buffer.allocUnsafe(Number(size) + 1), filled: 0 }
    } else this.#answer({ type, size: Number(size), content: Buffer.alloc(0) })
    return end + 1
  }

  #readBody(body: ObjectBody, chunk: Buffer, at: number): number {
    const copied = chunk.copy(body.bytes, body.filled, at)
    body.filled += copied
    if (body.filled === body.bytes.length) {
      this.#body = null
      const size = body.bytes.length - 1
      this.#answer({ type: body.type, size, content: body.bytes.subarray(0, size) })
    }
    return at + copied
  }

  #answer(object: StoredObject | null): void {
    this.#queue.shift()?.resolve(object)
  }
}
