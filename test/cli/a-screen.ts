import countColumns from 'string-width'

const STEP = new RegExp(`${String.fromCodePoint(27)}\\[(\\d*)([AJm])|[^]`, 'gu')

/** A terminal as far as winnow uses one: text, colours, line ends, up, and clear to the end. */
export class AScreen {
  readonly isTTY = true
  columns: number
  #rows: string[] = ['']
  #row = 0

  constructor(columns: number) {
    this.columns = columns
  }

  get rows(): readonly string[] {
    return this.#rows
  }

  write(text: string): void {
    for (const [token, count = '', what = ''] of text.matchAll(STEP)) {
      if (what === 'A') this.#row = Math.max(0, this.#row - Number(count))
      else if (what === 'J') this.#rows = [...this.#rows.slice(0, this.#row), '']
      else if (token === '\n') this.#next()
      else if (what !== 'm' && token !== '\r') this.#put(token)
    }
  }

  /** What is on the last row is wrapped again, as terminals do it. */
  narrow(columns: number): void {
    this.columns = columns
    const last = this.#rows.pop() ?? ''
    this.#rows.push('')
    this.#row = this.#rows.length - 1
    for (const character of last) this.#put(character)
  }

  #next(): void {
    this.#row += 1
    if (this.#row === this.#rows.length) this.#rows.push('')
  }

  #put(character: string): void {
    if (countColumns(`${this.#rows[this.#row]}${character}`) > this.columns) this.#next()
    this.#rows[this.#row] += character
  }
}
