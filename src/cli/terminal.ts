import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { plainJson, plainText } from '../report/plain-text.ts'
import type { Terminal } from '../verbs/call.ts'
import { painted } from './colour.ts'
import { liveLine, type Screen } from './live-line.ts'

export interface Streams {
  input: Readable
  out: Writable
  err: Writable
  /** Whether people see colours there. */
  colour: { out: boolean; err: boolean }
  /** Where the live line is shown; none where nobody looks. */
  live?: Screen | null
}

/** Untrusted text is made plain first and coloured after: what is shown in colour is winnow's own. */
export function terminal({ input, out, err, colour, live = null }: Streams): Terminal {
  const line = liveLine(live)
  const print = (stream: Writable, text: string) => line.around(() => void stream.write(`${text}\n`))
  return {
    out: text => print(out, painted(plainText(text), colour.out)),
    err: text => print(err, painted(plainText(text), colour.err)),
    json: (value, indent) => print(out, plainJson(value, indent)),
    live: text => line.show(text),
    lines: () => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
  }
}

export function wantsColour(stream: { isTTY?: boolean }, env: Readonly<Record<string, string>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
