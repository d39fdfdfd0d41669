import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { plainJson, plainText } from '../report/plain-text.ts'
import type { Terminal } from '../verbs/call.ts'
import { painted } from './colour.ts'

export interface Streams {
  input: Readable
  out: Writable
  err: Writable
  /** Whether people see colours there. */
  colour: { out: boolean; err: boolean }
}

/** Untrusted text is made plain first and coloured after: what is shown in colour is winnow's own. */
export function terminal({ input, out, err, colour }: Streams): Terminal {
  const write = (stream: Writable, text: string, inColour: boolean) =>
    void stream.write(`${painted(plainText(text), inColour)}\n`)
  return {
    out: text => write(out, text, colour.out),
    err: text => write(err, text, colour.err),
    json: (value, indent) => void out.write(`${plainJson(value, indent)}\n`),
    lines: () => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
  }
}

export function wantsColour(stream: { isTTY?: boolean }, env: Readonly<Record<string, string>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
