import { toOneLine } from '../model/landing.ts'
import { toPlainText } from '../report/plain-text.ts'
import { truncateToWidth, countColumns } from '../report/text-width.ts'

/** A stream that a person may be looking at. */
export interface Screen {
  write(text: string): unknown
  isTTY?: boolean
  /** 0 or none where a terminal does not say. */
  columns?: number
}

/** One line below everything printed, overwritten in place. */
export interface LiveLine {
  /** null: there is nothing to show any more. */
  show(text: string | null): void
  /** Prints something else: the line is gone before, and back after. */
  around(print: () => void): void
}

const USUAL_COLUMNS = 80
const LONGEST = 500

/** Where nobody looks there is no such line, and no character that would move a cursor. */
export function createLiveLine(screen: Screen | null): LiveLine {
  if (screen === null) return { show: () => {}, around: print => print() }
  let wanted: string | null = null
  let drawn = 0
  let columns = 0

  function erase(): void {
    if (drawn === 0) return
    // A terminal made narrower has wrapped what fitted before.
    const above = Math.ceil(drawn / getScreenWidth(screen)) - 1
    screen?.write(`\r${above > 0 ? `\u001b[${above}A` : ''}\u001b[J`)
    drawn = 0
  }

  function draw(): void {
    if (wanted === null) return
    // The last column stays free: a cursor beyond it would begin another line.
    const line = truncateToWidth(wanted, getScreenWidth(screen) - 1)
    screen?.write(line)
    drawn = countColumns(line)
  }

  return {
    show(text) {
      const before = { wanted, columns }
      wanted = text === null ? null : toOneLine(toPlainText(text), LONGEST)
      columns = getScreenWidth(screen)
      if (wanted === before.wanted && columns === before.columns) return
      erase()
      draw()
    },
    around(print) {
      erase()
      print()
      draw()
    },
  }
}

function getScreenWidth(screen: Screen | null): number {
  return screen?.columns || USUAL_COLUMNS
}

export function canShowLiveLine(
  stream: Pick<Screen, 'isTTY'>,
  env: Readonly<Record<string, string>>,
): boolean {
  return stream.isTTY === true && env['TERM'] !== 'dumb' && (env['CI'] ?? '') === ''
}
