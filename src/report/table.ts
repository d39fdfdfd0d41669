/** Columns of text, each as wide as its widest cell; the last one is not padded. */
export function formatTable(rows: readonly (readonly string[])[], gap = 2): string[] {
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length)
  }
  return rows.map(row =>
    row
      .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd((widths[column] ?? 0) + gap)))
      .join('')
      .trimEnd(),
  )
}
