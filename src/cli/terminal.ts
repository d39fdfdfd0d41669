import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { toOneLine, toPlainText } from '../model/text.ts'
import { neutralizeJsonCommands, neutralizeWorkflowCommands, toPlainJson } from '../report/markdown.ts'
import countColumns from 'string-width'
import { truncateToWidth, wrapLine } from '../report/terminal.ts'
import type { Terminal } from './verb.ts'

interface TerminalStreams {
  input: Readable
  out: Writable
  err: Writable
  colour: { out: boolean; err: boolean }
  /** Terminal of the live line; null without one. */
  live?: Screen | null
  /** A CI runner would execute workflow commands in the output. */
  obeyed?: boolean
  attended?: boolean
}

interface Screen {
  write(text: string): unknown
  isTTY?: boolean
  /** 0 or undefined if the terminal does not report it. */
  columns?: number
}

/** One line below the output, overwritten in place. */
interface LiveLine {
  /** null removes the line. */
  show(text: string | null): void
  /** Erases the line, prints, and draws the line again. */
  printAbove(print: () => void): void
}

const MIN_COLUMNS = 20
const USUAL_COLUMNS = 80
const MAX_LENGTH = 500

const COLOURS: Readonly<Record<string, number>> = {
  kept: 32,
  'kept, then reverted': 33,
  'no gain': 33,
  worse: 31,
  'not proven': 33,
  refused: 35,
  broken: 31,
  error: 31,
  warning: 33,
}

/** Matches a verdict or kind of message at the start of a line or after an experiment's number. */
const WORD =
  /^(\s*(?:exp-\d+\s+(?:#\d+\s+)?)?)(Kept, then reverted|Kept|No gain|Worse|Not proven|Refused|Broken|error|warning)(?=[\s:.])/

/** Removes control characters before adding colour: only winnow's own text is coloured. */
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
  const print = (stream: Writable, text: string) => line.printAbove(() => void stream.write(`${text}\n`))
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

/** Wraps only on a terminal. Pipes and files get unwrapped lines. */
function wrapToScreen(stream: Screen, text: string): string {
  const { isTTY, columns = 0 } = stream
  if (isTTY !== true || columns < MIN_COLUMNS) return text
  return text
    .split('\n')
    .flatMap(line => wrapLine(line, columns))
    .join('\n')
}

function highlightLine(line: string, inColour: boolean): string {
  if (!inColour) return line
  return line.replace(WORD, (_all, before: string, word: string) => {
    return `${before}\u001b[${COLOURS[word.toLowerCase()]}m${word}\u001b[0m`
  })
}

/** Treats an empty line, the end of input and Ctrl-C as no. */
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

// The live line

/** Without a screen, writes nothing, not even cursor movements. */
export function createLiveLine(screen: Screen | null): LiveLine {
  if (screen === null) return { show: () => {}, printAbove: print => print() }
  let wanted: string | null = null
  let drawn = 0
  let columns = 0

  function erase(): void {
    if (drawn === 0) return
    // A terminal that became narrower has wrapped the drawn line.
    const above = Math.ceil(drawn / getScreenWidth(screen)) - 1
    screen?.write(`\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`)
    drawn = 0
  }

  function draw(): void {
    if (wanted === null) return
    // Keep the last column free: a full line would move the cursor to the next one.
    const line = truncateToWidth(wanted, getScreenWidth(screen) - 1)
    screen?.write(line)
    drawn = countColumns(line)
  }

  return {
    show(text) {
      const before = { wanted, columns }
      wanted = text === null ? null : toOneLine(toPlainText(text), MAX_LENGTH)
      columns = getScreenWidth(screen)
      if (wanted === before.wanted && columns === before.columns) return
      erase()
      draw()
    },
    printAbove(print) {
      erase()
      print()
      draw()
    },
  }
}

function getScreenWidth(screen: Screen | null): number {
  return screen?.columns || USUAL_COLUMNS
}

// Stream capabilities

export function canShowColour(stream: { isTTY?: boolean }, env: Readonly<Record<string, string>>): boolean {
  return stream.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
}

export function canShowLiveLine(
  stream: Pick<Screen, 'isTTY'>,
  env: Readonly<Record<string, string>>,
): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb' && (env['CI'] ?? '') === ''
}

export function isAttended(
  streams: readonly { isTTY?: boolean }[],
  env: Readonly<Record<string, string>>,
): boolean {
  return streams.every(({ isTTY }) => isTTY === true) && (env['CI'] ?? '') === ''
}
