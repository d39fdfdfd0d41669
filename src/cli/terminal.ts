import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import {
  neutralizeJsonCommands,
  toPlainJson,
  toPlainText,
  neutralizeWorkflowCommands,
} from '../report/plain-text.ts'
import { wrapLine } from '../report/wrapped.ts'
import type { Terminal } from '../verbs/call.ts'
import { highlightLine } from './colour.ts'
import { createLiveLine, type Screen } from './live-line.ts'

export interface TerminalStreams {
  input: Readable
  out: Writable
  err: Writable
  /** Whether people see colours there. */
  colour: { out: boolean; err: boolean }
  /** Where the live line is shown; none where nobody looks. */
  live?: Screen | null
  /** A CI runner reads what is printed, and would take orders from it. */
  obeyed?: boolean
  /** Somebody sits there who can be asked. */
  attended?: boolean
}

/** Untrusted text is made plain first and coloured after: what is shown in colour is winnow's own. */
export function createTerminal({
  input,
  out,
  err,
  colour,
  live = null,
  obeyed = false,
  attended = false,
}: TerminalStreams): Terminal {
  const line = createLiveLine(live)
  const print = (stream: Writable, text: string) => line.around(() => void stream.write(`${text}\n`))
  const shown = (text: string, stream: Writable) => {
    const plain = obeyed ? neutralizeWorkflowCommands(toPlainText(text)) : toPlainText(text)
    return wrapToScreen(stream, plain)
  }
  const shownJson = (json: string) => (obeyed ? neutralizeJsonCommands(json) : json)
  return {
    out: text => print(out, highlightLine(shown(text, out), colour.out)),
    err: text => print(err, highlightLine(shown(text, err), colour.err)),
    json: (value, indent) => print(out, shownJson(toPlainJson(value, indent))),
    live: text => line.show(text),
    confirm: attended
      ? (question, interrupt) => confirmOnTerminal({ input, err }, question, interrupt)
      : null,
    lines: () => createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }),
  }
}

/** Only a person's terminal has a width; what reads along elsewhere gets lines as they are. */
function wrapToScreen(stream: Screen, text: string): string {
  const { isTTY, columns = 0 } = stream
  if (isTTY !== true || columns < NARROWEST) return text
  return text
    .split('\n')
    .flatMap(line => wrapLine(line, columns))
    .join('\n')
}

const NARROWEST = 20

export function canShowColour(stream: { isTTY?: boolean }, env: Readonly<Record<string, string>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}

/** Anything but a yes is a no: an empty line, an end of input, Ctrl-C. */
async function confirmOnTerminal(
  { input, err }: Pick<TerminalStreams, 'input' | 'err'>,
  question: string,
  interrupt: AbortSignal,
): Promise<boolean> {
  err.write(`${toPlainText(question)} [y/N] `)
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  const close = () => lines.close()
  interrupt.addEventListener('abort', close, { once: true })
  try {
    for await (const line of lines) return /^\s*y(es)?\s*$/i.test(line)
    err.write('\n')
    return false
  } finally {
    interrupt.removeEventListener('abort', close)
    lines.close()
  }
}

export function isAttended(
  streams: readonly { isTTY?: boolean }[],
  env: Readonly<Record<string, string>>,
): boolean {
  return streams.every(({ isTTY }) => isTTY === true) && (env['CI'] ?? '') === ''
}
