import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { jsonWithoutOrders, plainJson, plainText, withoutOrders } from '../report/plain-text.ts'
import { wrapped } from '../report/wrapped.ts'
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
  /** A CI runner reads what is printed, and would take orders from it. */
  obeyed?: boolean
}

/** Untrusted text is made plain first and coloured after: what is shown in colour is winnow's own. */
export function terminal({ input, out, err, colour, live = null, obeyed = false }: Streams): Terminal {
  const line = liveLine(live)
  const print = (stream: Writable, text: string) => line.around(() => void stream.write(`${text}\n`))
  const shown = (text: string, stream: Writable) => {
    const plain = obeyed ? withoutOrders(plainText(text)) : plainText(text)
    return fittedTo(stream, plain)
  }
  const shownJson = (json: string) => (obeyed ? jsonWithoutOrders(json) : json)
  return {
    out: text => print(out, painted(shown(text, out), colour.out)),
    err: text => print(err, painted(shown(text, err), colour.err)),
    json: (value, indent) => print(out, shownJson(plainJson(value, indent))),
    live: text => line.show(text),
    lines: () => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
  }
}

/** Only a person's terminal has a width; what reads along elsewhere gets lines as they are. */
function fittedTo(stream: Screen, text: string): string {
  const { isTTY, columns = 0 } = stream
  if (isTTY !== true || columns < NARROWEST) return text
  return text
    .split('\n')
    .flatMap(line => wrapped(line, columns))
    .join('\n')
}

const NARROWEST = 20

export function wantsColour(stream: { isTTY?: boolean }, env: Readonly<Record<string, string>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}
