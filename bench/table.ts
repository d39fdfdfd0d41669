/** One line of a table: what, how much, and how it compares with its budget. */
export function row(what: string, value: string, ratio?: number, budget?: number): void {
  const compared = ratio === undefined ? '' : `${ratio.toFixed(2)}x`
  const limit = budget === undefined ? '' : `budget ${budget}x ${(ratio ?? 0) <= budget ? 'met' : 'MISSED'}`
  console.log(`${what.padEnd(64)} ${value.padStart(12)} ${compared.padStart(8)}  ${limit}`)
}

export function heading(text: string): void {
  console.log(`\n${text}\n${'-'.repeat(text.length)}`)
}
